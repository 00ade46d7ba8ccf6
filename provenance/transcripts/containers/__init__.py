"""Whole containers that hold transcripts: documents, folders, databases, archives."""
