from app.db.store import find_note


def test_missing_note_is_none():
    assert find_note(1) is None
