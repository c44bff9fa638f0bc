from fastapi import APIRouter, HTTPException

from app.db.store import delete_note, find_note, insert_note

router = APIRouter()
PAGE_SIZE = 50


@router.get("/notes/{note_id}")
def get_note(note_id: int):
    note = find_note(note_id)
    if note is None:
        raise HTTPException(404, "note not found")
    return note


@router.post("/notes")
def create_note(body: dict):
    return insert_note(body["title"], body["text"])


@router.delete("/notes/{note_id}")
def remove_note(note_id: int):
    delete_note(note_id)
