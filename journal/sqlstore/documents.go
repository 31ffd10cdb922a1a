package sqlstore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

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

// keepDocuments keeps the documents of a new run. Texts are stored as bytes: they may hold anything. A
// stored text that is no longer what its digest says becomes whole again.
func (t *transaction) keepDocuments(run string, documents []journal.Document) error {
	for _, d := range documents {
		for _, statement := range []string{
			"INSERT INTO journal_documents (sha256, content) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING",
			"UPDATE journal_documents SET content = $2 WHERE sha256 = $1 AND content <> $2",
		} {
			if _, err := t.exec(statement, d.SHA256, []byte(d.Text)); err != nil {
				return err
			}
		}
		if _, err := t.exec("INSERT INTO journal_run_documents (run, sha256) VALUES ($1, $2) ON CONFLICT (run, sha256) DO NOTHING", run, d.SHA256); err != nil {
			return err
		}
	}
	stored, err := t.documents(run)
	if err != nil {
		return err
	}
	for _, d := range documents {
		if text, there := stored[d.SHA256]; !there || text != d.Text {
			return unlikeWritten("document " + d.SHA256)
		}
	}
	return nil
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
