package tracks

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"math"
	"strings"
	"time"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

// Activity is what the details of a record of kind activity hold.
type Activity struct {
	Bucket   string  `json:"bucket"`
	Type     string  `json:"type,omitempty"` // of the bucket: currentwindow, afkstatus, web.tab.current, …
	App      string  `json:"app,omitempty"`
	Title    string  `json:"title,omitempty"` // of the window or the page
	URL      string  `json:"url,omitempty"`
	File     string  `json:"file,omitempty"` // of an editor
	Project  string  `json:"project,omitempty"`
	Language string  `json:"language,omitempty"`
	Status   string  `json:"status,omitempty"` // afk or not-afk: whether the person was away
	Seconds  float64 `json:"seconds"`          // to the millisecond
}

// longest bounds the duration of an event, in seconds: ten years.
const longest = 10 * 366 * 24 * 3600

func beginsActivityWatch(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	return len(head) > 0 && head[0] == '{' && bytes.Contains(head, []byte(`"buckets"`))
}

// readActivityWatch gives the events of an export, of all buckets or of one, to a sink.
func readActivityWatch(ctx context.Context, in io.Reader, sink source.Sink) error {
	d := newDocument(ctx, in)
	kind, err := d.peek()
	if err == io.EOF {
		return nil
	}
	found := false
	if err == nil && kind == '{' {
		if found, err = readExport(d, sink); err == nil && found {
			if _, err = d.peek(); err == io.EOF {
				return nil
			}
			return sink.Skip(d.offset(), "something stands behind the end of the export; it was not read")
		}
	}
	if err != nil {
		return d.ended(err, sink)
	}
	return sink.Skip(0, "the file is no export of ActivityWatch: an object with the member buckets")
}

func readExport(d *document, sink source.Sink) (found bool, err error) {
	err = d.members(func(name string) error {
		kind, err := d.peek()
		if err != nil || name != "buckets" || kind != '{' {
			return orSkip(d, err)
		}
		found = true
		return d.members(func(id string) error { return readBucket(d, id, sink) })
	})
	return found, err
}

// members gives the name of each member of the object that is next; take reads its value.
func (d *document) members(take func(name string) error) error {
	if _, err := d.open(); err != nil {
		return err
	}
	for {
		name, more, err := d.name()
		if err != nil || !more {
			return err
		}
		if err := take(name); err != nil {
			return err
		}
	}
}

func orSkip(d *document, err error) error {
	if err != nil {
		return err
	}
	return d.skip()
}

func readBucket(d *document, id string, sink source.Sink) error {
	if kind, err := d.peek(); err != nil || kind != '{' {
		return orSkip(d, err)
	}
	b := bucket{id: clip(id)}
	// The type stands before the events wherever they are exported; where it does not, the name of the bucket has to do.
	if strings.HasPrefix(id, "aw-watcher-afk_") {
		b.kind = "afkstatus"
	} else if strings.HasPrefix(id, "aw-watcher-window_") {
		b.kind = "currentwindow"
	}
	return d.members(func(name string) error {
		kind, err := d.peek()
		switch {
		case err == nil && name == "type" && kind == '"':
			t, err := d.token()
			b.kind = clip(t.String())
			return err
		case err == nil && name == "events" && kind == '[':
			return d.items(func(item jsontext.Value, at int64) error { return b.take(item, at, sink) })
		}
		return orSkip(d, err)
	})
}

// bucket is what one watcher observed.
type bucket struct{ id, kind string }

func (b bucket) take(item jsontext.Value, at int64, sink source.Sink) error {
	var e struct {
		Timestamp string         `json:"timestamp"`
		Duration  *float64       `json:"duration"` // seconds
		Data      jsontext.Value `json:"data"`
	}
	options := json.JoinOptions(lenient, jsontext.AllowDuplicateNames(true))
	if err := json.Unmarshal(item, &e, options); err != nil {
		return sink.Skip(at, "the item is no event of ActivityWatch: a member has another type")
	}
	t, err := parseTime(e.Timestamp)
	if err != nil || t.Before(first) || !t.Before(last) {
		return sink.Skip(at, "the timestamp of the event is none of ISO 8601 within the years 1900 to 2199")
	}
	if e.Duration == nil || *e.Duration < 0 || *e.Duration > longest {
		return sink.Skip(at, "the event has no duration, or one below nought or above ten years")
	}
	a := Activity{Bucket: b.id, Type: b.kind, Seconds: rounded(*e.Duration, 3)}
	a.observed(e.Data)
	// What was observed tells two events of one bucket and time apart, whatever the order and the spelling of its members.
	if e.Data == nil || e.Data.Canonicalize(options) != nil {
		e.Data = nil
	}
	t = t.UTC()
	r := &store.Record{
		Kind: store.Activity, Time: t, Title: a.headline(),
		Ref:        t.Format(time.RFC3339Nano) + "/" + hashed(b.id, string(e.Data)),
		Body:       strings.Join(filled(a.App, a.Title, a.URL, a.File, a.Project, a.Language), "\n"),
		Unsearched: a.Status != "",
	}
	if a.Seconds > 0 {
		r.Until = t.Add(time.Duration(math.Round(a.Seconds*1e3)) * time.Millisecond)
	}
	if r.Unsearched {
		r.Body = ""
	}
	r, reason := finish(r, a)
	if reason != "" {
		return sink.Skip(at, reason)
	}
	return sink.Put(at, r)
}

// observed takes what the watchers of windows, absence, browsers and editors say. A member of another type than theirs is left out.
func (a *Activity) observed(data jsontext.Value) {
	var all map[string]jsontext.Value
	if json.Unmarshal(data, &all, lenient, jsontext.AllowDuplicateNames(true)) != nil {
		return
	}
	for name, field := range map[string]*string{
		"app": &a.App, "title": &a.Title, "url": &a.URL, "file": &a.File, "project": &a.Project, "language": &a.Language, "status": &a.Status,
	} {
		var text string
		if json.Unmarshal(all[name], &text, lenient) == nil {
			*field = clip(text)
		}
	}
}

// headline is the title of the record: the app and its window, the page, the file, or whether the person was away.
func (a *Activity) headline() string {
	what := a.Title
	for _, other := range []string{a.File, a.URL, a.Status} {
		if what == "" {
			what = other
		}
	}
	if what == "" && a.App == "" {
		what = a.Bucket
	}
	return clip(strings.Join(filled(a.App, what), " — "))
}
