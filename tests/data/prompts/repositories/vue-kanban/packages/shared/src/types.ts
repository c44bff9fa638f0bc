export type Role = "owner" | "editor" | "viewer";

export interface Card {
  id: string;
  columnId: string;
  title: string;
  position: number;
  dueDate?: string;
}

export interface Column {
  id: string;
  boardId: string;
  title: string;
  wipLimit?: number;
}

export interface Board {
  id: string;
  title: string;
  columns: Column[];
}
