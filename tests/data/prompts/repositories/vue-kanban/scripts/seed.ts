import { db } from "../apps/server/src/db/client";
import { boards, cards } from "../apps/server/src/db/schema";

await db.insert(boards).values({ id: "demo", title: "Demo" });
await db.insert(cards).values({ id: "c1", columnId: "todo", title: "Hello", position: 0 });
