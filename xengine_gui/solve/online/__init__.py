"""Online methods: operators arrive in base order, and what to release is decided only when memory is short."""
