import { defineStore } from "pinia";
import { api } from "../api";

export const useSessionStore = defineStore("session", {
  state: () => ({ email: "", token: localStorage.getItem("token") }),
  actions: {
    async login(email: string, password: string) {
      const { token } = await api<{ token: string }>("/auth/login", { method: "POST", body: JSON.stringify({ email, password }) });
      this.token = token;
      localStorage.setItem("token", token);
    },
    logout() {
      this.token = null;
      localStorage.removeItem("token");
    },
  },
});
