// Package store is the port of a person's data: records of mail, calendar, contacts, pages, places and activity, each with a label
// that follows from where it came from (retrieval 3, 12.3; D39), searched by their words and times.
//
// What is read is read through a [View], which a [Scope] limits when it is opened: for a view the records outside its scope do not
// exist, so that no hit, count, rank, order or status tells of them. What is written is written in batches, each one transaction: a
// process that is killed between two of them leaves a store that the next sync completes.
//
// The contract is in code in store/storetest; a store for another database must pass it.
package store

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store/query"
)

// Errors a caller branches on; they come wrapped.
var (
	ErrNoSource    = errors.New("no such source")
	ErrSourceThere = errors.New("a source of that name is there already")
	ErrNoFacet     = errors.New("no such facet")
	ErrBusy        = errors.New("another program writes to this instance")
	ErrDamaged     = errors.New("the store is damaged")
	ErrNewer       = errors.New("the store was made by a newer version of loom")
)

// Owner is what an instance is made with.
type Owner struct {
	Subject string   // whom the records belong to, the subject of their labels
	Zone    string   // an IANA zone: what dates without one are in
	Facets  []string // the facets there are, sorted
	Made    time.Time
}

// Store is the data of one instance. It may be used by several goroutines; one of all programs writes at a time, any number read
// meanwhile.
type Store interface {
	// View opens what a scope admits as it is now: writes that follow are not seen. It must be closed.
	View(ctx context.Context, scope Scope) (View, error)

	// AddFacet makes a facet known, so that sources may be put into it.
	AddFacet(ctx context.Context, facet string, at time.Time) error
	// AddSource adds a source without records. Its facets must be known ones, else the error wraps [ErrNoFacet].
	AddSource(ctx context.Context, s Source) (Source, error)
	// RemoveSource removes a source with all that came from it, also from the index and from the pages of the files that
	// held it, and returns how many records these were.
	RemoveSource(ctx context.Context, name string) (int64, error)
	// SetFacets puts a source into exactly these facets and labels its records anew, in one transaction with the record of the change. One
	// of written documents is in no facet and is refused.
	SetFacets(ctx context.Context, source string, facets []string, at time.Time) (FacetChange, error)

	// Import begins to bring a source up to date. One import of a source runs at a time; what another one left unfinished is taken up.
	// One of written documents is refused.
	Import(ctx context.Context, source string, at time.Time) (Import, error)

	// Trust is what labels follow from as it is now.
	Trust(ctx context.Context) (Trust, error)
	// Write puts documents in, each with its own label, in one transaction: all of them or none. A document of the same reference that
	// was written before, with whatever label, is replaced; one that was synced stays beside it. The error wraps [ErrTrust] where what
	// labels follow from is not what it was when trust was asked, and [ErrBusy] where another program writes. Written documents are
	// observed at the time of the call.
	Write(ctx context.Context, trust Trust, documents []Written, at time.Time) error

	Close() error
}

// Scope says which records exist for a reader.
type Scope struct {
	// Facets limits the view to records of sources that are in one of these facets. Nil is no limit: the owner's own view. Empty but
	// not nil admits nothing.
	Facets []string
}

// Admits says whether the records of an owner's source exist for the reader: the source is in one of the facets, or, where it has
// written documents, their label fits [label.ScopeCeiling] of the facets and all classes.
func (s Scope) Admits(owner string, from Source) bool { return s.Admitting(owner)(from) }

// Admitting is [Scope.Admits] for many sources of one owner.
func (s Scope) Admitting(owner string) func(Source) bool {
	ceiling := sync.OnceValue(func() label.Ceiling { return label.ScopeCeiling(owner, Classes(), s.Facets) })
	return func(from Source) bool {
		switch {
		case s.Facets == nil:
			return true
		case len(s.Facets) == 0:
			return false
		case from.IsWritten():
			return label.Fits(LabelOf(owner, from), ceiling())
		}
		return slices.ContainsFunc(from.Facets, func(f string) bool { return slices.Contains(s.Facets, f) })
	}
}

// View is what exists for one reader.
type View interface {
	Owner() Owner
	// Sources are the sources of the scope, by name.
	Sources() []SourceState
	// Search finds records by their words. A search that names a source outside the view finds what one that names none of that
	// name does: the error wraps [ErrNoSource].
	Search(ctx context.Context, s Search) (Result, error)
	// Records are the records that a filter admits, in its order. After an error nothing follows.
	Records(ctx context.Context, f Filter) iter.Seq2[Row, error]
	// Skipped are the items of a source that the last complete reading of what holds them could not take, in order of container and
	// position, up to a limit.
	Skipped(ctx context.Context, source string, limit int) ([]Skip, error)
	// FacetChanges are the changes of facets of the view's sources, the newest last. Only the owner's own view has any.
	FacetChanges(ctx context.Context) ([]FacetChange, error)
	Close() error
}

// SourceState is a source with what the store holds of it.
type SourceState struct {
	Source
	Records int64
	Bytes   int64     // of text: titles and bodies
	Newest  time.Time // of its records; zero where none has a time
	Skipped int64     // items that could not be taken
	// Synced is when a sync last ended, Complete whether that one skipped nothing and could read everything.
	// Zero: never. Of written documents it is when one was last written, which is always complete.
	Synced   time.Time
	Complete bool
	Problem  string // why the last sync could not read everything, "" where it could
}

// Row is a record as a view shows it.
type Row struct {
	Record
	ID     ID
	Source *SourceState
	// Label is the record's label: the stored one, which is the one its columns give now. A row for which these differ, or whose
	// label cannot be read, is never given: it is counted in [Result.Mislabelled] or ends in an error that wraps [ErrMislabelled].
	Label label.Label
	// Observed is when the store first had the record as it is.
	Observed time.Time
}

// ErrMislabelled is the error of a row whose stored label is not what its columns give: it is withheld. [View.Records] goes on behind it.
var ErrMislabelled = errors.New("the record's stored label is not the one its source gives: withheld")

// Rank is the order of hits.
type Rank string

// The orders. [ByScore] weighs the newest [MaxScored] hits and the newest [MaxScored] that have the words in their title.
const (
	ByRecency Rank = "recency"
	ByScore   Rank = "score"
)

// Limits of a search.
const (
	MaxLimit     = 200 // hits
	DefaultLimit = 20
	MaxScored    = 1000
	// MaxCounted is where counting the records that hold a term ends: a more common one weighs as one in so many.
	MaxCounted = 10_000
	// MaxScannedBytes is how much text regular expressions are tried on, the newest first; [Result.Truncated] says when there was more.
	MaxScannedBytes = 256 << 20
	// MaxScanTime bounds the same in time.
	MaxScanTime = 10 * time.Second
)

// Search is a question for records.
type Search struct {
	Query   query.Query
	Sources []string     // names; nil is all
	Kinds   []Kind       // nil is all
	Since   time.Time    // zero is no limit; records at Since are in
	Until   time.Time    // zero is no limit; records at Until are out
	Parties []Identifier // records with any of these taking part, or keys; nil is no limit, empty finds nothing
	Limit   int          // 1 to MaxLimit
	Rank    Rank
}

// Result is what a search found.
type Result struct {
	Rows      []Row
	Snippets  []string // of each row
	Truncated bool     // there are more, or the text that regular expressions are tried on was too much
	// Mislabelled are hits that were withheld because of their stored label.
	Mislabelled int
}

// Filter admits records for [View.Records]. Its zero fields admit all.
type Filter struct {
	Kinds   []Kind
	Sources []string   // names
	Ref     string     // with exactly one source
	Keys    []string   // that have any of these keys
	Party   Identifier // who takes part, or is a key; records out of the index of words have neither here
	Thread  string
	// From and To admit what lasts into the window: it begins before To and ends after From, or is an instant in [From, To).
	From, To time.Time
	Oldest   bool // the oldest first instead of the newest
	Limit    int
}

// Skip is an item that could not be taken.
type Skip struct {
	Container string // the file, below the source's location
	Position  int64  // byte offset of the item, -1 where the container itself is meant
	Reason    string
}

// FacetChange is the record of a change of a source's facets: adding one lets more readers see its records (S3).
type FacetChange struct {
	At            time.Time
	Source        string
	Before, After []string
	Records       int64 // that were labelled anew
}

// Import brings one source up to date. Its methods are called by one goroutine.
type Import interface {
	Source() Source
	// Known is the stamp a container was last read completely at, and the note its reader left for the next reading.
	Known(container string) (stamp, note string, ok bool)
	// Listed says, before any Apply, which containers there are: what came from others is gone unless it is put again. It is not
	// called where the source could not be listed as a whole.
	Listed(ctx context.Context, there map[string]bool) error
	// Apply makes changes in one transaction, in their order.
	Apply(ctx context.Context, changes []Change) error
	// Finish ends the import and removes the records that stand nowhere any more. Problem says in one line why the source could not be read
	// as a whole, "" where it could.
	Finish(ctx context.Context, problem string, at time.Time) (Counts, error)
	// Abandon ends an import that cannot be finished; what was applied stays.
	Abandon()
}

// Op is what a [Change] does.
type Op uint8

// The changes. A container is read from Begin to Done; what a killed program left between them is read again.
const (
	// Begin begins a reading of Container. With Keep, items read before stay unless a Lost names them; without, an item that no Put
	// of this reading names is gone at Done.
	Begin Op = iota + 1
	// Put says that Record stands at Position of Container. A record of the same Ref at several places is one record: that of the place
	// which was known first. Where that place is lost and the next one held another record, its container is not known any more.
	Put
	// Skipped says that the item at Position could not be taken, with the Reason.
	Skipped
	// Lost says that the item at Position is there no more. Only after a Begin with Keep.
	Lost
	// Done ends the reading: Container is known by Stamp and Note from now on.
	Done
)

// Change is one step of an import.
type Change struct {
	Op        Op
	Container string
	Position  int64
	Keep      bool
	Record    *Record
	Indexed   *Indexed // of Record; made by [Index] outside of the transaction, as it is work
	Reason    string
	Stamp     string
	Note      string
}

// Counts is what an import did to a source.
type Counts struct {
	New, Changed, Gone, Unchanged int64 // records
	Copies                        int64 // items that were the same record as another one
	Skipped                       int64 // items, of this and earlier readings, that could not be taken
}
