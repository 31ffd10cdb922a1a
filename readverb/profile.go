package readverb

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/source/markdown"
	"github.com/loomrun/loom/store"
)

// ProfilePath is the page of the file cabinet that tells who the owner is.
const ProfilePath = "profile.md"

const (
	maxProfileName = 200
	maxBio         = 4000 // UTF-16 code units
)

// Profile is the verb profile: who the owner is.
type Profile struct {
	// Fresh asks for what is known now rather than what was kept of it. The store keeps nothing else, so it changes nothing.
	Fresh bool
}

func parseProfile(argv []string) (Verb, error) {
	v := Profile{}
	if err := (grammar{verb: "profile", flags: map[string]*bool{"--fresh": &v.Fresh}}).parse(argv); err != nil {
		return nil, err
	}
	return v, nil
}

// Myself is the payload of profile.
type Myself struct {
	Name       string `json:"name"`
	Bio        string `json:"bio,omitempty"`
	Identity   string `json:"identity"` // the subject of the owner's labels
	HasProfile bool   `json:"hasProfile"`
	Source     string `json:"source"` // [ProfilePath], or owner where there is no such page
	Ifc        Ifc    `json:"ifc"`
}

// Read answers with a *[Myself]. Where the page is not there it has the owner's subject for a name, and the command fails with it.
func (Profile) Read(ctx context.Context, from Reader) (Answer, error) {
	r, err := from.begin("")
	if err != nil {
		return Answer{}, err
	}
	owner := r.View.Owner().Subject
	me := &Myself{Name: owner, Identity: owner, Source: "owner", Ifc: Ifc{r.made()}}
	if !slices.ContainsFunc(r.View.Sources(), func(s store.SourceState) bool { return s.Name == store.FileCabinet }) {
		return Answer{Payload: me, Failed: true}, nil
	}
	f := store.Filter{Kinds: []store.Kind{store.Page}, Sources: []string{store.FileCabinet}, Keys: []string{markdown.PathKey(ProfilePath)}, Limit: 1}
	for row, err := range r.records(ctx, f) {
		if err != nil {
			return Answer{}, err
		}
		name, bio := profileOf(row)
		me = &Myself{Name: cmp.Or(name, owner), Bio: bio, Identity: owner, HasProfile: true, Source: ProfilePath, Ifc: Ifc{r.made(row.Label)}}
	}
	return Answer{Payload: me, Failed: !me.HasProfile, Notes: r.notes}, nil
}

// profileOf is what a page says of the owner: its front matter, else its first heading and its text.
func profileOf(row store.Row) (name, bio string) {
	d := decoded[pageDetails](row.Details)
	name, bio = d.Name, d.Bio
	if name == "" && len(d.Headings) > 0 {
		name = d.Headings[0].Text
	}
	if bio == "" {
		bio = row.Body
		if first, rest, _ := strings.Cut(bio, "\n"); first == name {
			bio = rest
		}
	}
	return codeunits.Cut(oneLine(name), maxProfileName), codeunits.Cut(strings.TrimSpace(bio), maxBio)
}
