package readverb

import (
	"cmp"
	"context"
	"encoding/json/jsontext"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/store"
)

// Limits of what is read of places and activity.
const (
	// ActivityWindow is how far back activity is looked at where since is not named.
	ActivityWindow = 24 * time.Hour
	// MaxActivities is how many records of activity are added up, the newest of them.
	MaxActivities = 50_000
	// MaxActivityRows is how many sums are shown, the longest of them.
	MaxActivityRows = 50
	// maxPlaces is how many records a place is looked for in, where the newest are withheld.
	maxPlaces      = 20
	maxContextText = 500
)

// Context is the verb context: where the person is, or what the person did.
type Context struct {
	What  string // where or activity
	At    string // a time, of where; "" is now
	Since string // a time, of activity; "" is [ActivityWindow] before until
	Until string // a time, of activity; "" is now
	TZ    string // the zone of dates; "" is the instance's
}

func parseContext(argv []string) (Verb, error) {
	v := Context{}
	err := grammar{
		verb: "context", operand: &v.What, needs: "where or activity",
		texts: map[string]*string{"--at": &v.At, "--since": &v.Since, "--until": &v.Until, "--tz": &v.TZ},
	}.parse(argv)
	if err != nil {
		return nil, err
	}
	if err := oneOf("context", v.What, "where", "activity"); err != nil {
		return nil, err
	}
	if v.What == "where" && (v.Since != "" || v.Until != "") {
		return nil, invalid("context: --since and --until go with activity")
	}
	if v.What == "activity" && v.At != "" {
		return nil, invalid("context: --at goes with where")
	}
	return v, nil
}

// Whereabouts is the payload of context where.
type Whereabouts struct {
	Read  string  `json:"read"` // where
	At    Instant `json:"at"`
	Place *Spot   `json:"place"` // the last that is known at that time, null for none
	Ifc   Ifc     `json:"ifc"`
}

// Spot is a place the person was at. Degrees and metres.
type Spot struct {
	Lat        float64  `json:"lat"`
	Lon        float64  `json:"lon"`
	Accuracy   *float64 `json:"accuracy,omitempty"`
	Name       string   `json:"name,omitempty"` // else the address, where the source knows either
	ObservedAt Instant  `json:"observedAt"`
	AgeSeconds int64    `json:"ageSeconds"`
	Source     string   `json:"source"`
}

// Activities is the payload of context activity.
type Activities struct {
	Read  string  `json:"read"` // activity
	Since Instant `json:"since"`
	Until Instant `json:"until"` // the first instant that is out
	// Activity are the sums by application and title, the longest first, within the window.
	Activity []*Sum `json:"activity"`
	// TotalSeconds is how long anything of it went on; what went on at the same time counts once.
	TotalSeconds int64 `json:"totalSeconds"`
	Truncated    bool  `json:"truncated,omitzero"` // there is more than is shown or was added up
	Ifc          Ifc   `json:"ifc"`
}

// Sum is how long an application had a title.
type Sum struct {
	App     string `json:"app,omitempty"`
	Title   string `json:"title,omitempty"`
	Seconds int64  `json:"seconds"`
}

// Read answers with a *[Whereabouts] or an *[Activities].
func (v Context) Read(ctx context.Context, from Reader) (Answer, error) {
	r, err := from.begin(v.TZ)
	if err != nil {
		return Answer{}, err
	}
	if v.What == "activity" {
		return v.activity(ctx, r)
	}
	return v.where(ctx, r)
}

// placeDetails are the details of a record of kind place.
type placeDetails struct {
	Lat      *float64 `json:"lat"`
	Lon      *float64 `json:"lon"`
	Accuracy *float64 `json:"accuracy"`
	Name     string   `json:"name"`
	Address  string   `json:"address"`
}

func (v Context) where(ctx context.Context, r *reading) (Answer, error) {
	at := r.Now
	if v.At != "" {
		var err error
		if at, err = r.instant("--at", v.At, false); err != nil {
			return Answer{}, err
		}
	}
	at = at.Truncate(time.Second) // the store knows no less
	payload := &Whereabouts{Read: "where", At: Instant{at}, Ifc: Ifc{r.made()}}
	f := store.Filter{Kinds: []store.Kind{store.Place}, To: at.Add(time.Second), Limit: maxPlaces}
	for row, err := range r.records(ctx, f) {
		if err != nil {
			return Answer{}, err
		}
		d := decoded[placeDetails](row.Details)
		if d.Lat == nil || d.Lon == nil || row.Time.IsZero() {
			continue
		}
		payload.Place = &Spot{
			Lat: *d.Lat, Lon: *d.Lon, Accuracy: d.Accuracy, Name: codeunits.Cut(cmp.Or(d.Name, d.Address), maxContextText), ObservedAt: Instant{row.Time},
			AgeSeconds: at.Unix() - row.Time.Unix(), Source: row.Source.Name,
		}
		payload.Ifc = Ifc{r.made(row.Label)}
		break
	}
	return Answer{Payload: payload, Notes: r.notes}, nil
}

// activityDetails are the details of a record of kind activity.
type activityDetails struct {
	App     string         `json:"app"`
	Title   string         `json:"title"`
	URL     string         `json:"url"`
	Seconds jsontext.Value `json:"seconds"`
}

func (v Context) activity(ctx context.Context, r *reading) (Answer, error) {
	since, until, err := r.window(v.Since, v.Until)
	if err != nil {
		return Answer{}, err
	}
	if until.IsZero() {
		until = r.Now
	}
	if since.IsZero() {
		since = until.Add(-ActivityWindow)
	}
	if until.Before(since) {
		return Answer{}, invalid("--since is after now; name --until too")
	}
	since, until = since.Truncate(time.Second), until.Truncate(time.Second)
	payload := &Activities{Read: "activity", Since: Instant{since}, Until: Instant{until}, Activity: []*Sum{}}
	sums := map[[2]string]*Sum{}
	var spans []span
	used := labels{}
	read := 0
	f := store.Filter{Kinds: []store.Kind{store.Activity}, From: since, To: until, Limit: MaxActivities + 1}
	for row, err := range r.records(ctx, f) {
		if err != nil {
			return Answer{}, err
		}
		if read++; read > MaxActivities {
			payload.Truncated = true
			break
		}
		d := decoded[activityDetails](row.Details)
		key := [2]string{codeunits.Cut(oneLine(d.App), maxContextText), codeunits.Cut(oneLine(d.Title), maxContextText)}
		if key == ([2]string{}) {
			continue // that the person was there is no activity
		}
		s := span{max(row.Time.Unix(), since.Unix()), min(row.Until.Unix(), until.Unix())}
		if row.Time.IsZero() || row.Until.IsZero() || s.from >= s.to {
			continue
		}
		if sums[key] == nil {
			sums[key] = &Sum{App: key[0], Title: key[1]}
			payload.Activity = append(payload.Activity, sums[key])
		}
		sums[key].Seconds += s.to - s.from
		spans = append(spans, s)
		used.add(row.Label)
	}
	slices.SortFunc(payload.Activity, func(a, b *Sum) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), strings.Compare(a.App, b.App), strings.Compare(a.Title, b.Title))
	})
	if len(payload.Activity) > MaxActivityRows {
		payload.Activity, payload.Truncated = payload.Activity[:MaxActivityRows], true
	}
	payload.TotalSeconds = together(spans)
	payload.Ifc = Ifc{r.made(used.all...)}
	return Answer{Payload: payload, Notes: r.notes}, nil
}

// span is a stretch of time in seconds; to is not in.
type span struct{ from, to int64 }

// together is how long any of the spans lasts.
func together(spans []span) int64 {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	total, end := int64(0), int64(0)
	for i, s := range spans {
		if i == 0 || s.from > end {
			end = s.from
		}
		if s.to > end {
			total += s.to - end
			end = s.to
		}
	}
	return total
}
