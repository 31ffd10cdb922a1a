package governor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/loomrun/loom/protocol"
)

// Definition is a protocol under its registration name, as a host's catalog offers it.
type Definition struct {
	Name   string // such as system-query@1
	SHA256 string // of the document's bytes, in hexadecimal
	Rules  *Rules
}

// CheckDefinition refuses a protocol that no governor takes: one with an action that requires more
// than one capability, since authority is asked for one at a time (2.3).
func CheckDefinition(name string, p *protocol.Protocol) error {
	for _, a := range p.Actions {
		if len(a.Requires) > 1 {
			return fmt.Errorf("%s: action %s requires %s; at most one capability per action", name, a.ID, strings.Join(a.Requires, " and "))
		}
	}
	return nil
}

// CaseErrorCode says what kept a case from being opened or changed (4.11).
type CaseErrorCode string

// The codes of a CaseError.
const (
	UnknownProtocolError    CaseErrorCode = "UnknownProtocol"
	InvalidProtocolError    CaseErrorCode = "InvalidProtocol"
	MissingRevisionError    CaseErrorCode = "MissingRevision"
	UndeclaredArtifactError CaseErrorCode = "UndeclaredArtifact"
	InvalidRevisionError    CaseErrorCode = "InvalidRevision"
	InvalidInputError       CaseErrorCode = "InvalidInput"
	InvalidCaseIDError      CaseErrorCode = "InvalidCaseId"
	CaseExistsError         CaseErrorCode = "CaseExists"
	UnknownCaseError        CaseErrorCode = "UnknownCase"
	StoreUnavailableError   CaseErrorCode = "StoreUnavailable"
)

// CaseError says why a case was not opened or changed.
type CaseError struct {
	Code   CaseErrorCode
	Detail string
}

// Error gives "CODE: DETAIL".
func (e *CaseError) Error() string { return string(e.Code) + ": " + e.Detail }

func caseError(code CaseErrorCode, format string, args ...any) error {
	return &CaseError{code, fmt.Sprintf(format, args...)}
}

// Opening is what a case starts from.
type Opening struct {
	ID        string            // empty: the first free case-<n>
	Revisions map[string]string // of every declared artifact, none else
	Inputs    map[string]string // of every declared case input, none else
}

// Governor keeps cases in memory (4.11). It supplies no authority and no decisions to evaluation:
// every capability is undecided here, and is asked for by the run. Its methods may be called by
// several goroutines.
type Governor struct {
	definitions map[string]Definition

	mu    sync.Mutex
	cases map[string]*caseState
	next  int // of case-<n>
}

type caseState struct {
	id           string
	definition   Definition
	revision     uint64
	artifacts    []ArtifactRevision // in the protocol's order
	inputs       []InputValue
	received     []Received
	evidence     []Record            // the received records that apply
	evidenceIDs  map[string]struct{} // of those
	observations []Observation
}

// New makes a governor that offers these definitions and no others, for good. Their names differ.
func New(definitions ...Definition) (*Governor, error) {
	g := &Governor{definitions: make(map[string]Definition, len(definitions)), cases: map[string]*caseState{}, next: 1}
	for _, d := range definitions {
		if err := CheckDefinition(d.Name, d.Rules.protocol); err != nil {
			return nil, caseError(InvalidProtocolError, "%v", err)
		}
		if _, twice := g.definitions[d.Name]; twice {
			return nil, caseError(InvalidProtocolError, "%s is defined twice", d.Name)
		}
		g.definitions[d.Name] = d
	}
	return g, nil
}

// OpenCase opens a case under a registration and gives its id. The errors are [*CaseError].
func (g *Governor) OpenCase(name string, opening Opening) (string, error) {
	definition, known := g.definitions[name]
	if !known {
		return "", caseError(UnknownProtocolError, "%q is not among the governor's definitions", name)
	}
	c := &caseState{id: opening.ID, definition: definition, revision: 1, evidenceIDs: map[string]struct{}{}}
	if err := c.open(opening); err != nil {
		return "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for c.id == "" {
		free := "case-" + strconv.Itoa(g.next)
		g.next++
		if g.cases[free] == nil {
			c.id = free
		}
	}
	switch {
	case !protocol.ValidIdentifier(c.id):
		return "", caseError(InvalidCaseIDError, "%q is no identifier", c.id)
	case g.cases[c.id] != nil:
		return "", caseError(CaseExistsError, "case %s is open already", c.id)
	}
	g.cases[c.id] = c
	return c.id, nil
}

func (c *caseState) open(opening Opening) error {
	p := c.definition.Rules.protocol
	if extra, found := undeclared(opening.Revisions, c.definition.Rules.artifacts); found {
		return caseError(UndeclaredArtifactError, "%s declares no artifact %q", p.ID, extra)
	}
	for _, a := range p.Artifacts {
		revision, given := opening.Revisions[a.ID]
		switch {
		case !given:
			return caseError(MissingRevisionError, "artifact %s has no revision", a.ID)
		case !protocol.ValidIdentifier(revision):
			return caseError(InvalidRevisionError, "the revision of artifact %s is no identifier", a.ID)
		}
		c.artifacts = append(c.artifacts, ArtifactRevision{a.ID, revision})
	}
	if extra, found := undeclared(opening.Inputs, c.definition.Rules.inputs); found {
		return caseError(InvalidInputError, "%s declares no case input %q", p.ID, extra)
	}
	for _, in := range p.Inputs {
		value := opening.Inputs[in.ID]
		if !slices.Contains(in.Values, value) {
			return caseError(InvalidInputError, "case input %s is %q; it may be %s", in.ID, value, strings.Join(in.Values, ", "))
		}
		c.inputs = append(c.inputs, InputValue{in.ID, value})
	}
	return nil
}

// undeclared gives the first key, by code point, that is not declared.
func undeclared(given map[string]string, declared map[string]int32) (string, bool) {
	var extra []string
	for key := range given {
		if _, ok := declared[key]; !ok {
			extra = append(extra, key)
		}
	}
	if extra == nil {
		return "", false
	}
	return slices.Min(extra), true
}

// find gives a case. The caller holds the lock.
func (g *Governor) find(id string) (*caseState, error) {
	c := g.cases[id]
	if c == nil {
		return nil, caseError(UnknownCaseError, "no case %q is open", id)
	}
	return c, nil
}

// UpdateRevisions gives artifacts new revisions. Each that really changes adds one to the case
// revision, which is given back; going back to an older revision is a change like any other.
func (g *Governor) UpdateRevisions(id string, revisions map[string]string) (uint64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, err := g.find(id)
	if err != nil {
		return 0, err
	}
	if extra, found := undeclared(revisions, c.definition.Rules.artifacts); found {
		return 0, caseError(UndeclaredArtifactError, "%s declares no artifact %q", c.definition.Rules.protocol.ID, extra)
	}
	for _, a := range c.artifacts {
		if revision, given := revisions[a.Artifact]; given && !protocol.ValidIdentifier(revision) {
			return 0, caseError(InvalidRevisionError, "the revision of artifact %s is no identifier", a.Artifact)
		}
	}
	for i := range c.artifacts {
		a := &c.artifacts[i]
		if revision, given := revisions[a.Artifact]; given && revision != a.Revision {
			a.Revision = revision
			c.revision++
		}
	}
	return c.revision, nil
}

// Revision gives the revision of a case, from 1.
func (g *Governor) Revision(id string) (uint64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, err := g.find(id)
	if err != nil {
		return 0, err
	}
	return c.revision, nil
}

// ArtifactRevisions gives the present revision of each artifact.
func (g *Governor) ArtifactRevisions(id string) (map[string]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, err := g.find(id)
	if err != nil {
		return nil, err
	}
	revisions := make(map[string]string, len(c.artifacts))
	for _, a := range c.artifacts {
		revisions[a.Artifact] = a.Revision
	}
	return revisions, nil
}

// ValidateCatalog tells whether a case may be continued by a governor that offers other bytes under
// the case's registration name: it may not (4.11).
func (g *Governor) ValidateCatalog(name, sha256 string) error {
	d, known := g.definitions[name]
	if !known || d.SHA256 != sha256 {
		return caseError(InvalidProtocolError, "the definition of %s is not the one the case was opened under", name)
	}
	return nil
}
