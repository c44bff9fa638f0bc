import sqlite3

POOL_TIMEOUT = 30


def find_note(note_id):
    return None


def insert_note(title, text):
    return {"title": title, "text": text}


def delete_note(note_id):
    return None


def validate(row):
    return row is not None
