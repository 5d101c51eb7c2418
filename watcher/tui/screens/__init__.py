"""One screen a module. Each is handed what it shows and never looks back at the app's inside."""
