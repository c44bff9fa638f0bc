import { createRouter, createWebHistory } from "vue-router";

export const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: "/", component: () => import("./views/BoardList.vue") },
    { path: "/b/:id", component: () => import("./views/BoardView.vue") },
    { path: "/login", component: () => import("./views/LoginView.vue") },
  ],
});
