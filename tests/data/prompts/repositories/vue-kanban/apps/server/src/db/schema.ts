import { integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const users = sqliteTable("users", {
  id: text("id").primaryKey(),
  email: text("email").notNull().unique(),
  passwordHash: text("password_hash").notNull(),
});

export const boards = sqliteTable("boards", {
  id: text("id").primaryKey(),
  title: text("title").notNull(),
});

export const columns = sqliteTable("columns", {
  id: text("id").primaryKey(),
  boardId: text("board_id").notNull(),
  title: text("title").notNull(),
  wipLimit: integer("wip_limit"),
});

export const cards = sqliteTable("cards", {
  id: text("id").primaryKey(),
  columnId: text("column_id").notNull(),
  title: text("title").notNull(),
  position: real("position").notNull(),
  dueDate: text("due_date"),
});
