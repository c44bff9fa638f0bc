import type { FastifyInstance } from "fastify";
import { eq } from "drizzle-orm";
import { db } from "../db/client";
import { boards, columns } from "../db/schema";

export async function boardRoutes(app: FastifyInstance) {
  app.get("/", async () => db.select().from(boards));

  app.get("/:id", async (req, reply) => {
    const { id } = req.params as { id: string };
    const [board] = await db.select().from(boards).where(eq(boards.id, id));
    if (!board) return reply.code(404).send({ error: "not_found" });
    const cols = await db.select().from(columns).where(eq(columns.boardId, id));
    return { ...board, columns: cols };
  });
}
