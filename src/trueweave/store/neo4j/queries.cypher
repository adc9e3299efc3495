// Statements for the copy in Neo4j. `// name: x` starts one. Text in <<brackets>> is filled in by the code: relation
// types from the vocabulary, and filter conditions. All values are parameters.
//
// Everything belongs to a copy, and is looked up by (copy, id). An entity is linked to its chunks by MENTIONS, one per
// name. EntityName stores the entity of a name, and NamePair the relation of two names. When names move to other
// entities, only these and the MENTIONS change: no chunk has to be written again.
//
// Long lists are parameters, or are collected last. If a subquery imported a list, Neo4j would count it for every row
// that it sorts, which soon exceeds the memory limit of a transaction.

// name: begin
MERGE (c:TrueweaveCopy {id: $copy})
ON CREATE SET c.workspace = $workspace, c.position = -1, c.labels = [], c.types = [], c.space = $space, c.made = datetime()

// name: copy
MATCH (c:TrueweaveCopy {id: $copy}) RETURN c.position AS position, c.labels AS labels, c.types AS types, c.space AS space

// name: lock
// Locks the copy for one writer, and checks that its position is unchanged.
MATCH (c:TrueweaveCopy {id: $copy}) WHERE c.position = $position SET c.written = datetime()
RETURN c.labels AS labels, c.types AS types

// name: advance
MATCH (c:TrueweaveCopy {id: $copy}) WHERE c.position = $before SET c.position = $position, c.written = datetime()
RETURN c.position AS position

// name: set_vocabulary
MATCH (c:TrueweaveCopy {id: $copy}) SET c.labels = $labels, c.types = $types

// name: documents
UNWIND $rows AS row
MERGE (d:Document {copy: $copy, id: row.id}) SET d.uri = row.uri, d.title = row.title, d.metadata = row.metadata

// name: entities
UNWIND $rows AS row
MERGE (e:Entity {copy: $copy, id: row.id})
SET e += row.properties
WITH e, row WHERE coalesce(e.label, '') <> row.label
CALL (e) { WITH e WHERE e.label <> '' REMOVE e:$(e.label) }
SET e.label = row.label
WITH e, row WHERE row.label <> ''
SET e:$(row.label)

// name: memberships
// An entity that was removed and returned is in its community again, and no change is reported for that community.
UNWIND $rows AS row
MATCH (e:Entity {copy: $copy, id: row.id})
MERGE (c:Community {copy: $copy, id: row.community})
MERGE (e)-[:IN_COMMUNITY]->(c)

// name: names
// Moves a name to another entity, with all its mentions.
UNWIND $rows AS row
MERGE (n:EntityName {copy: $copy, id: row.name})
WITH n, row WHERE coalesce(n.entity, '') <> row.entity
MERGE (e:Entity {copy: $copy, id: row.entity})
WITH n, row, e
CALL (n, row, e) {
    MATCH (:Entity {copy: $copy, id: n.entity})<-[m:MENTIONS {name: row.name}]-(c:Chunk)
    CREATE (c)-[:MENTIONS {name: row.name, emphasis: m.emphasis}]->(e)
    DELETE m
}
SET n.entity = row.entity

// name: ends
UNWIND $ids AS id MERGE (:Entity {copy: $copy, id: id})

// name: known_relations
UNWIND $ids AS id MATCH (p:NamePair {copy: $copy, relation: id}) RETURN DISTINCT id

// name: unlink_relations
UNWIND $rows AS row
MATCH (s:Entity {copy: $copy, id: row.source}) MATCH (t:Entity {copy: $copy, id: row.target})
MATCH (s)-[r {id: row.id}]->(t) DELETE r

// name: relations
UNWIND $rows AS row
MATCH (s:Entity {copy: $copy, id: row.source}) MATCH (t:Entity {copy: $copy, id: row.target})
CREATE (s)-[r:$(row.type) {id: row.id}]->(t) SET r += row.properties

// name: pairs
// Moves a pair of names to another relation. A relation that has no pairs left is deleted.
UNWIND $rows AS row
MERGE (p:NamePair {copy: $copy, id: row.pair})
WITH p, row, p.relation AS old, p.source AS source, p.target AS target
WHERE coalesce(old, '') <> coalesce(row.relation, '')
SET p.relation = row.relation, p.source = row.source, p.target = row.target
WITH old, source, target WHERE old IS NOT NULL AND NOT EXISTS { (:NamePair {copy: $copy, relation: old}) }
MATCH (s:Entity {copy: $copy, id: source}) MATCH (t:Entity {copy: $copy, id: target})
MATCH (s)-[r {id: old}]->(t) DELETE r

// name: chunks
UNWIND $rows AS row
MERGE (c:Chunk {copy: $copy, id: row.id}) SET c.document = row.document, c.n = row.n, c.text = row.text
MERGE (d:Document {copy: $copy, id: row.document})
WITH c, d, row
CALL (c) { MATCH (c)-[old:MENTIONS|STATES]->() DELETE old }
CALL (c) { MATCH (c)<-[old:HAS_CHUNK]-() DELETE old }
CREATE (d)-[:HAS_CHUNK {n: row.n}]->(c)

// name: mentions
UNWIND $rows AS row
MATCH (c:Chunk {copy: $copy, id: row.chunk}) MATCH (e:Entity {copy: $copy, id: row.entity})
CREATE (c)-[:MENTIONS {name: row.name, emphasis: row.emphasis}]->(e)

// name: statements
UNWIND $rows AS row
MATCH (c:Chunk {copy: $copy, id: row.chunk}) MATCH (p:NamePair {copy: $copy, id: row.pair})
CREATE (c)-[:STATES {strength: row.strength}]->(p)

// name: communities
UNWIND $rows AS row
MERGE (c:Community {copy: $copy, id: row.id}) SET c += row.properties
WITH c, row
CALL (c) { MATCH (c)<-[old:IN_COMMUNITY]-() DELETE old }
CALL (c) { MATCH (c)-[old:PART_OF]->() DELETE old }
CALL (c, row) {
    WITH c, row WHERE row.parent IS NOT NULL
    MERGE (p:Community {copy: $copy, id: row.parent}) CREATE (c)-[:PART_OF]->(p)
}
CALL (c, row) {
    UNWIND row.members AS member
    MERGE (e:Entity {copy: $copy, id: member}) CREATE (e)-[:IN_COMMUNITY]->(c)
}

// name: sources_of_entities
// Stores on each entity the chunks that mention it, highest emphasis first.
UNWIND $ids AS id
MATCH (e:Entity {copy: $copy, id: id})
CALL (e) {
    MATCH (e)<-[m:MENTIONS]-(c:Chunk) WITH c.id AS chunk, max(m.emphasis) AS emphasis ORDER BY emphasis DESC, chunk
    RETURN collect(chunk)[..$most] AS chunks
}
SET e.source_id = chunks

// name: sources_of_relations
// Stores on each relation the chunks that state it, highest strength first. Its ends are those of any of its name pairs.
UNWIND $ids AS id
MATCH (p:NamePair {copy: $copy, relation: id})
WITH id, min(p.source) AS source, min(p.target) AS target
CALL (id) {
    MATCH (:NamePair {copy: $copy, relation: id})<-[s:STATES]-(c:Chunk)
    WITH c.id AS chunk, max(s.strength) AS strength ORDER BY strength DESC, chunk
    RETURN collect(chunk)[..$most] AS chunks
}
MATCH (s:Entity {copy: $copy, id: source}) MATCH (t:Entity {copy: $copy, id: target})
MATCH (s)-[r {id: id}]->(t) SET r.source_id = chunks

// name: found_in_chunks
// The entities and relations that list these chunks as their sources.
UNWIND $ids AS id
MATCH (c:Chunk {copy: $copy, id: id})
RETURN [(c)-[:MENTIONS]->(e:Entity) | e.id] AS entities,
    [(c)-[:STATES]->(p:NamePair) WHERE p.relation IS NOT NULL | p.relation] AS relations

// name: vectors_of_chunks
UNWIND $rows AS row MATCH (n:Chunk {copy: $copy, id: row.id})
CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector) SET n:<<label>>

// name: vectors_of_entities
UNWIND $rows AS row MATCH (n:Entity {copy: $copy, id: row.id})
CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector) SET n:<<label>>

// name: names_of_entities
UNWIND $ids AS id MATCH (n:EntityName {copy: $copy, entity: id}) RETURN n.id AS name

// name: drop_names
UNWIND $ids AS id MATCH (n:EntityName {copy: $copy, id: id}) DELETE n

// name: drop_relations
// Finds a relation through its name pairs: only they know its ends.
UNWIND $ids AS id
MATCH (p:NamePair {copy: $copy, relation: id})
WITH id, collect(p) AS pairs, p.source AS source, p.target AS target
CALL (id, source, target) {
    MATCH (s:Entity {copy: $copy, id: source}) MATCH (t:Entity {copy: $copy, id: target})
    MATCH (s)-[r {id: id}]->(t) DELETE r
}
UNWIND pairs AS p
SET p.relation = NULL
WITH p WHERE NOT EXISTS { (p)<-[:STATES]-() }
DELETE p

// name: drop_nodes
UNWIND $ids AS id MATCH (n:<<label>> {copy: $copy, id: id}) DETACH DELETE n

// name: drop_copy
// In several transactions, because a copy may be larger than memory.
MATCH (n:<<label>> {copy: $copy}) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS

// name: forget_copy
MATCH (c:TrueweaveCopy {id: $copy}) DELETE c

// --- reading ---------------------------------------------------------------------------------------------------------
// Each returns one row of lists, or no row if the copy does not exist.

// name: edges
// The heaviest relations of each entity, in both directions.
CALL (e) {
    MATCH (e)-[r:<<types>>]->(o:Entity) RETURN r, o ORDER BY r.weight DESC, o.id LIMIT <<fan_out>>
    UNION ALL
    MATCH (e)<-[r:<<types>>]-(o:Entity) RETURN r, o ORDER BY r.weight DESC, o.id LIMIT <<fan_out>>
}
WITH * WHERE <<r_visible>>

// name: relation_visible
EXISTS { MATCH (:NamePair {copy: $copy, relation: r.id})<-[:STATES]-(s:Chunk) WHERE s.document IN $documents }

// name: around
MATCH (copy:TrueweaveCopy {id: $copy})
CALL () {
    UNWIND $followed AS id
    MATCH (e:Entity {copy: $copy, id: id})
    CALL (e) {
        <<edges>>
        WITH e, o WHERE o <> e AND e.id IN $entities
        RETURN collect(DISTINCT o.id) AS others
    }
    CALL (e) {
        <<mentioned>>
        WITH DISTINCT c WHERE <<c_visible>>
        RETURN c
    }
    WITH e, c, COUNT { MATCH (c)-[:MENTIONS]->(x:Entity) WHERE x.id IN others RETURN DISTINCT x } AS neighbours
    ORDER BY neighbours DESC, c.id
    WITH e, collect([c.id, neighbours])[..$each] AS told
    RETURN collect([e.id, told]) AS mentions
}
CALL () {
    UNWIND $entities AS id
    MATCH (e:Entity {copy: $copy, id: id})
    <<edges>>
    WITH r.id AS id, max(coalesce(e.degree, 0) + coalesce(o.degree, 0)) AS degree, max(r.weight) AS weight
    ORDER BY degree DESC, weight DESC, id LIMIT <<most_around>>
    RETURN collect(id) AS relations
}
RETURN size(copy.types) AS types, relations, mentions

// name: mentioned
// For each name of an entity, the chunks with the highest emphasis.
MATCH (e)<-[m:MENTIONS]-(c:Chunk)
WITH m.name AS name, m.emphasis AS emphasis, c ORDER BY emphasis DESC, c.id
WITH name, collect(c)[..<<fan_out>>] AS chunks ORDER BY name LIMIT <<names>>
UNWIND chunks AS c

// name: hop
// One hop of a neighbourhood: the heaviest relations not seen before.
MATCH (copy:TrueweaveCopy {id: $copy})
CALL () {
    UNWIND $entities AS id
    MATCH (e:Entity {copy: $copy, id: id})
    <<edges>>
    WITH DISTINCT r WHERE NOT r.id IN $seen
    WITH r ORDER BY r.weight DESC, r.id LIMIT $most
    RETURN collect([r.id, r.weight, r.source_name, r.target_name]) AS relations
}
<<others>>
RETURN size(copy.types) AS types, relations, others

// name: others
// The entities from which the next hop starts.
CALL () {
    UNWIND $entities AS id
    MATCH (e:Entity {copy: $copy, id: id})
    <<edges>>
    WITH o, r ORDER BY r.weight DESC, o.id LIMIT <<wide>>
    RETURN collect(DISTINCT o.id) AS others
}

// name: chunks_of_entities
MATCH (copy:TrueweaveCopy {id: $copy})
CALL () {
    UNWIND $ids AS id
    MATCH (e:Entity {copy: $copy, id: id})
    CALL (e) {
        <<mentioned>>
        WITH DISTINCT c WHERE <<c_visible>>
        RETURN c
    }
    RETURN collect([id, c.id]) AS pairs
}
RETURN size(copy.types) AS types, pairs

// name: chunks_of_relations
MATCH (copy:TrueweaveCopy {id: $copy})
CALL () {
    UNWIND $ids AS id
    CALL (id) {
        MATCH (p:NamePair {copy: $copy, relation: id}) WITH p ORDER BY p.id LIMIT <<names>>
        CALL (p) {
            MATCH (p)<-[s:STATES]-(c:Chunk) WITH c ORDER BY s.strength DESC, c.id LIMIT <<fan_out>>
            RETURN c
        }
        WITH DISTINCT c WHERE <<c_visible>>
        RETURN c
    }
    RETURN collect([id, c.id]) AS pairs
}
RETURN size(copy.types) AS types, pairs

// --- comparing -------------------------------------------------------------------------------------------------------

// name: stored_documents
MATCH (n:Document {copy: $copy}) WHERE n.id > $after WITH n ORDER BY n.id LIMIT $limit
RETURN n.id AS id, {uri: n.uri, title: n.title, metadata: n.metadata} AS stored

// name: stored_entities
MATCH (n:Entity {copy: $copy}) WHERE n.id > $after WITH n ORDER BY n.id LIMIT $limit
RETURN n.id AS id, properties(n) AS stored, labels(n) AS labels

// name: stored_relations
MATCH (n:Entity {copy: $copy}) WHERE n.id > $after WITH n ORDER BY n.id LIMIT $limit
OPTIONAL MATCH (n)-[r]->(o:Entity)
RETURN n.id AS id, collect([type(r), o.id, properties(r)]) AS stored

// name: stored_chunks
MATCH (n:Chunk {copy: $copy}) WHERE n.id > $after WITH n ORDER BY n.id LIMIT $limit
RETURN n.id AS id, n.text AS text, n.n AS n, n.document AS document,
    [(n)<-[h:HAS_CHUNK]-(d:Document) | [d.id, h.n]] AS parents,
    [(n)-[m:MENTIONS]->(e:Entity) | [m.name, e.id, m.emphasis]] AS mentions,
    [(n)-[s:STATES]->(p:NamePair) | [p.id, p.relation, s.strength]] AS statements

// name: stored_communities
MATCH (n:Community {copy: $copy}) WHERE n.id > $after WITH n ORDER BY n.id LIMIT $limit
RETURN n.id AS id, properties(n) AS stored, [(n)-[:PART_OF]->(p) | p.id] AS parents,
    [(e:Entity)-[:IN_COMMUNITY]->(n) | e.id] AS members
