"""The parts screens are made of. They paint lines of ink and know nothing of watches."""
