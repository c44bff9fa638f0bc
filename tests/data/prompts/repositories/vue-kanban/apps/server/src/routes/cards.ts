import type { FastifyInstance } from "fastify";
import { eq } from "drizzle-orm";
import { db } from "../db/client";
import { cards } from "../db/schema";

export async function cardRoutes(app: FastifyInstance) {
  app.post("/", async (req, reply) => {
    const body = req.body as typeof cards.$inferInsert;
    await db.insert(cards).values(body);
    return reply.code(201).send(body);
  });

  app.patch("/:id", async (req) => {
    const { id } = req.params as { id: string };
    await db.update(cards).set(req.body as object).where(eq(cards.id, id));
    return { ok: true };
  });

  app.delete("/:id", async (req, reply) => {
    const { id } = req.params as { id: string };
    await db.delete(cards).where(eq(cards.id, id));
    return reply.code(204).send();
  });
}
