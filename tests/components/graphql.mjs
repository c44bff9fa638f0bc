// Holds questions and answers, `[{ query, variables, answer }]` on standard input, against the schema that GitHub publishes:
// a question must be one that it takes, and an answer one that it could give. Prints what is wrong, one a line.
import { readFileSync } from 'node:fs';

const modules = `${process.argv[2]}/node_modules`;
const { buildSchema, execute, parse, validate } = await import(`${modules}/graphql/index.js`);
const text = readFileSync(`${modules}/@octokit/graphql-schema/schema.graphql`, 'utf8');
// It names two fields twice, of which nothing here asks.
const schema = buildSchema(text, { assumeValidSDL: true });
const wrong = new Set();

for (const { query, variables, answer } of JSON.parse(readFileSync(0, 'utf8'))) {
    const document = parse(query);
    for (const error of validate(schema, document)) wrong.add(`the question: ${error.message}`);
    if (query.includes('__type(')) {
        // What is said to be there must be there; less is a server that is older.
        const { data } = await execute({ schema, document, variableValues: variables });
        for (const [alias, type] of Object.entries(answer.data)) {
            const known = new Set(data[alias].fields.map((field) => field.name));
            for (const { name } of type.fields) if (!known.has(name)) wrong.add(`${alias} has no field ${name}`);
        }
        continue;
    }
    const said = (source, _arguments, _context, info) => {
        if (!(info.path.key in source)) wrong.add(`not answered: ${info.parentType.name}.${info.path.key}`);
        return source[info.path.key];
    };
    const { errors } = await execute({
        schema,
        document,
        variableValues: variables,
        rootValue: answer.data,
        fieldResolver: said,
        typeResolver: (value) => value.__typename,
    });
    for (const error of errors ?? []) wrong.add(`the answer: ${error.message} (${error.path?.join('.')})`);
}
for (const line of wrong) console.log(line);
