-- A store as version 2 wrote it: that of version 1, and a document that a run wrote.
INSERT INTO owner (one, subject, zone, made) VALUES (1, 'ada', 'Europe/Vienna', 1767225600);
INSERT INTO facet (name, added) VALUES ('family', 1767225600), ('work', 1767225600);
INSERT INTO source (number, name, kind, format, location, added) VALUES (1, 'fc', 'pages', 'markdown', '', 1767225600);
INSERT INTO source (number, name, kind, format, location, added, records, searched, tokens, bytes, synced, problem)
VALUES (2, 'post', 'mail', 'mbox', '/home/ada/mail', 1767225600, 3, 3, 8, 42, 1767229200, '');
INSERT INTO source_facet (source, facet) VALUES (2, 'family'), (2, 'work');
INSERT INTO facet_change (at, source, facets_was, facets_is, records) VALUES (1767225601, 'post', 'work', 'family,work', 3);
INSERT INTO label (number, text) VALUES (4, '{"confidentiality":[{"subject":"ada","type":"loom/User"},{"class":"email","subject":"ada","type":"loom/Class"},{"anyOf":[{"facet":"work","subject":"ada","type":"loom/Facet"},{"facet":"family","subject":"ada","type":"loom/Facet"}]}],"integrity":[{"connector":"mail.mbox","type":"loom/Observed"}]}');
INSERT INTO record (number, source, ref, kind, label, time, until, observed, hash, title, folder, thread, senders, receivers, keys, details, tokens, body) VALUES
	((1767225600 + 62135596800 << 24) | 5, 2, 'm1', 'mail', 4, 1767225600, NULL, 1767229200, x'01', 'Apple pie', 'INBOX', 't', 'Grace' || char(10) || 'grace@example.com' || char(10), '', '', '{"a":1}', 3, 'the body'),
	((1767225660 + 62135596800 << 24) | 1, 2, 'm2', 'mail', 4, 1767225660, 1767225720, 1767229200, x'02', 'Plum', 'INBOX', '', '', '', '', '', 3, 'another body'),
	(7, 2, 'c1', 'contact', 4, NULL, NULL, 1767229200, x'03', 'Grace', '', '', '', '', 'grace@example.com' || char(10), '', 2, 'friend');
INSERT INTO key (key, record) VALUES ('grace@example.com', 7);
INSERT INTO container (number, source, name, reading, stamp, note) VALUES (1, 2, 'a', 3, 'stamp', 'note'), (2, 2, 'b', 1, NULL, '');
INSERT INTO item (container, position, reading, record, hash) SELECT 1, number & 15, 3, number, hash FROM record;
INSERT INTO skip (container, position, reading, reason) VALUES (2, 9, 1, 'no date');
INSERT INTO word (rowid, title, body, sender, recipient, folder, scope) VALUES
	((1767225600 + 62135596800 << 24) | 5, 'apple pie', 'the body', 'grace grace example com', '', 'inbox', 'a s2 kmail'),
	((1767225660 + 62135596800 << 24) | 1, 'plum', 'another body', '', '', 'inbox', 'a s2 kmail'),
	(7, 'grace', 'friend', '', '', '', 'a s2 kcontact');
INSERT INTO source (number, name, kind, format, location, added, records, searched, tokens, bytes, synced, written)
VALUES (3, 'written-7558a6d4e293', 'pages', 'written', '', 1767229300, 1, 1, 4, 16, 1767229300, '{"confidentiality":[{"subject":"ada","type":"loom/User"},{"class":"email","subject":"ada","type":"loom/Class"},{"facet":"work","subject":"ada","type":"loom/Facet"},{"class":"calendar","subject":"ada","type":"loom/Class"},{"facet":"family","subject":"ada","type":"loom/Facet"}],"integrity":[]}');
INSERT INTO label (number, text) VALUES (5, '{"confidentiality":[{"subject":"ada","type":"loom/User"},{"class":"email","subject":"ada","type":"loom/Class"},{"facet":"work","subject":"ada","type":"loom/Facet"},{"class":"calendar","subject":"ada","type":"loom/Class"},{"facet":"family","subject":"ada","type":"loom/Facet"}],"integrity":[]}');
INSERT INTO record (number, source, ref, kind, label, time, until, observed, hash, title, folder, thread, senders, receivers, keys, details, tokens, body) VALUES
	((1767225720 + 62135596800 << 24) | 3, 3, 'results/1.md', 'page', 5, 1767225720, NULL, 1767229300, x'04', 'Result', 'results', '', '', '', 'page:P-1' || char(10), '{"pageId":"P-1"}', 4, 'pie was it');
INSERT INTO key (key, record) SELECT 'page:P-1', number FROM record WHERE source = 3;
INSERT INTO word (rowid, title, body, sender, recipient, folder, scope) VALUES
	((1767225720 + 62135596800 << 24) | 3, 'result', 'pie was it', '', '', 'results', 'a s3 kpage');
