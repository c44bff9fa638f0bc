import { SignJWT, jwtVerify } from "jose";

const secret = new TextEncoder().encode(process.env.TOKEN_SECRET ?? "dev");
export const TOKEN_TTL = "12h";

export function signToken(payload: Record<string, unknown>) {
  return new SignJWT(payload).setProtectedHeader({ alg: "HS256" }).setExpirationTime(TOKEN_TTL).sign(secret);
}

export async function verifyToken(token: string) {
  return (await jwtVerify(token, secret)).payload;
}
