import { defineStore } from "pinia";
import type { Board, Card } from "@planka/shared";
import { between } from "@planka/shared";
import { api } from "../api";

export const useBoardStore = defineStore("board", {
  state: () => ({ board: null as Board | null, cards: [] as Card[], loading: false }),
  actions: {
    async load(id: string) {
      this.loading = true;
      this.board = await api<Board>(`/boards/${id}`);
      this.loading = false;
    },
    async moveCard(card: Card, columnId: string, before: number, after: number) {
      const position = between(before, after);
      await api(`/cards/${card.id}`, { method: "PATCH", body: JSON.stringify({ columnId, position }) });
      Object.assign(card, { columnId, position });
    },
  },
});
