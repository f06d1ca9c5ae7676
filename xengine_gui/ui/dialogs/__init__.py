"""Dialogs: small questions and pages of help."""
