package sqlstore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/loomrun/loom/journal"
)

// digest gives the digest of a text in hexadecimal.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// checkDocuments refuses a document whose digest is of another text.
func checkDocuments(documents []journal.Document) error {
	for _, d := range documents {
		if got := digest([]byte(d.Text)); got != d.SHA256 {
			return fmt.Errorf("the digest of a document is %s, not %q", got, d.SHA256)
		}
	}
	return nil
}

// documentsAtOnce bounds the documents that one statement names.
const documentsAtOnce = 32

// keepDocuments keeps the documents of a new run. Texts are stored as bytes: they may hold anything. Most are there
// already, from earlier runs, and are only looked at; a stored text that is no longer what its digest says becomes
// whole again.
func (t *transaction) keepDocuments(run string, documents []journal.Document) error {
	for some := range slices.Chunk(unique(documents), documentsAtOnce) {
		lacking, err := t.lacking(some)
		if err != nil {
			return err
		}
		for _, d := range lacking {
			if _, err := t.exec("INSERT INTO journal_documents (sha256, content) VALUES ($1, $2)"+
				" ON CONFLICT (sha256) DO UPDATE SET content = excluded.content", d.SHA256, []byte(d.Text)); err != nil {
				return err
			}
		}
		if lacking, err = t.lacking(lacking); err != nil {
			return err
		} else if len(lacking) > 0 {
			return unlikeWritten("document " + lacking[0].SHA256)
		}
		list, digests := listOf(some, 2)
		made, err := t.exec("INSERT INTO journal_run_documents (run, sha256) SELECT $1, sha256 FROM journal_documents WHERE sha256 IN ("+list+")",
			append([]any{run}, digests...)...)
		if err != nil {
			return err
		}
		if int(made) != len(some) {
			return unlikeWritten("the list of the run's documents")
		}
	}
	return nil
}

// unique gives each document once.
func unique(documents []journal.Document) []journal.Document {
	sorted := slices.SortedFunc(slices.Values(documents), func(a, b journal.Document) int { return strings.Compare(a.SHA256, b.SHA256) })
	return slices.CompactFunc(sorted, func(a, b journal.Document) bool { return a.SHA256 == b.SHA256 })
}

// listOf gives the places of documents in a statement, from one on, and the digests for them.
func listOf(documents []journal.Document, from int) (list string, digests []any) {
	var places strings.Builder
	for i, d := range documents {
		if i > 0 {
			places.WriteString(", ")
		}
		fmt.Fprintf(&places, "$%d", from+i)
		digests = append(digests, d.SHA256)
	}
	return places.String(), digests
}

// lacking gives the documents that are not stored as they are.
func (t *transaction) lacking(documents []journal.Document) ([]journal.Document, error) {
	if len(documents) == 0 {
		return nil, nil
	}
	list, digests := listOf(documents, 1)
	stored := map[string]string{}
	err := t.each("SELECT sha256, content FROM journal_documents WHERE sha256 IN ("+list+")", digests,
		func(scan func(...any) error) error {
			var sha256 string
			var content []byte
			err := scan(&sha256, &content)
			stored[sha256] = string(content)
			return err
		})
	return slices.DeleteFunc(slices.Clone(documents), func(d journal.Document) bool {
		text, there := stored[d.SHA256]
		return there && text == d.Text
	}), err
}

// documents reads the documents of a run that are what their digest says.
func (t *transaction) documents(run string) (map[string]string, error) {
	documents := map[string]string{}
	size := 0
	err := t.each("SELECT d.sha256, d.content FROM journal_run_documents r JOIN journal_documents d ON d.sha256 = r.sha256 WHERE r.run = $1",
		[]any{run}, func(scan func(...any) error) error {
			var sha256 string
			var content []byte
			if err := scan(&sha256, &content); err != nil {
				return err
			}
			if size += len(content); size > journal.MaxRecordBytes {
				return fmt.Errorf("its documents have more than %d bytes", journal.MaxRecordBytes)
			}
			if digest(content) == sha256 {
				documents[sha256] = string(content)
			}
			return nil
		})
	return documents, err
}
