from fastapi import APIRouter

router = APIRouter()


def validate(name: str) -> None:
    if not name:
        raise ValueError("a tag needs a name")


@router.get("/tags")
def list_tags():
    return []
