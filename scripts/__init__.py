"""What is run from a checkout; a package, so that no installed one of that name is found before it."""
