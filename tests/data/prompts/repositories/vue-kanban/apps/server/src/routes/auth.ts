import type { FastifyInstance } from "fastify";
import { signToken } from "../lib/token";

export async function authRoutes(app: FastifyInstance) {
  app.post("/login", async (req, reply) => {
    const { email } = req.body as { email: string; password: string };
    return { token: await signToken({ email }) };
  });
}
