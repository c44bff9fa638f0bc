import Fastify from "fastify";
import { boardRoutes } from "./routes/boards";
import { cardRoutes } from "./routes/cards";
import { authRoutes } from "./routes/auth";
import { rateLimit } from "./plugins/rateLimit";

export function build() {
  const app = Fastify({ logger: true, bodyLimit: 1_048_576 });
  app.register(rateLimit, { max: 100, windowMs: 60_000 });
  app.register(authRoutes, { prefix: "/api/auth" });
  app.register(boardRoutes, { prefix: "/api/boards" });
  app.register(cardRoutes, { prefix: "/api/cards" });
  return app;
}
