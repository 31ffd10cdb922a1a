package retrieval

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
)

// The kinds of transport (5.1).
const (
	Broker = "broker" // the reads of a queue, which somebody else answers
	Direct = "direct" // the program opens the instance itself
)

// Limits of a configuration.
const (
	// DefaultTimeLimit is how long one call may take where the configuration does not say (D33).
	DefaultTimeLimit = 30 * time.Second
	// MaxTimeLimit is the most that it may say.
	MaxTimeLimit = 300 * time.Second

	maxConfig boundedfile.Size = 64 << 10
	maxRunID                   = 128
	maxFacets                  = 1000
)

// Config is the host's configuration of retrieval (5.1): what answers the reads of a run, and what bounds them. It is the operator's, and
// nothing that a model writes reaches it.
type Config struct {
	CLIPath         string
	Transport       Transport
	ReadCeilingFile string        // a record of 5.13; "" for none
	Facets          []string      // what the record must be about; nil: that is not looked at
	TimeLimit       time.Duration // of one call; 0 is DefaultTimeLimit
}

// Transport is how the program reaches the data.
type Transport struct {
	Kind        string // Broker or Direct
	QueuePath   string // of a broker
	InstanceDir string // direct
	RunID       string // direct: whom the reads are attributed to
	Actor       string // direct: carried and not used
}

// ReadConfig reads a configuration and checks it. A path must be absolute. Errors name the file, the place and the member.
func ReadConfig(path string) (*Config, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("the configuration of retrieval %q is not an absolute path", path)
	}
	data, err := boundedfile.Read(path, maxConfig)
	if err != nil {
		return nil, fmt.Errorf("read the configuration of retrieval: %w", err)
	}
	c, err := parseConfig(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func parseConfig(data []byte) (*Config, error) {
	v, err := strictjson.Parse(data, strictjson.MaxDepth)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	texts := map[string]*string{"cliPath": &c.CLIPath, "readCeilingFile": &c.ReadCeilingFile}
	err = members(v, "the configuration", func(m document.Member) error {
		switch m.Name {
		case "cliPath", "readCeilingFile":
			return text(m, texts[m.Name])
		case "transport":
			return c.Transport.read(m.Value)
		case "facets":
			c.Facets, err = facetsOf(m.Value)
			return err
		case "timeLimitSeconds":
			n, err := strconv.Atoi(m.Value.Text)
			if m.Value.Kind != document.Number || err != nil || n < 1 || n > int(MaxTimeLimit.Seconds()) {
				return document.Errorf(m.Value.Place, "timeLimitSeconds is not a whole number from 1 to %d", int(MaxTimeLimit.Seconds()))
			}
			c.TimeLimit = time.Duration(n) * time.Second
			return nil
		}
		return errUnknown
	})
	if err != nil {
		return nil, err
	}
	if _, given := v.Get("readCeilingFile"); given && c.ReadCeilingFile == "" {
		return nil, errors.New("readCeilingFile is not an absolute path")
	}
	return c, c.Check()
}

func (t *Transport) read(v document.Value) error {
	texts := map[string]*string{
		"kind": &t.Kind, "queuePath": &t.QueuePath, "instanceDir": &t.InstanceDir, "runId": &t.RunID, "actor": &t.Actor,
	}
	return members(v, "the transport", func(m document.Member) error {
		to, known := texts[m.Name]
		if !known {
			return errUnknown
		}
		return text(m, to)
	})
}

var errUnknown = errors.New("unknown member")

// members reads the members of an object.
func members(v document.Value, what string, read func(document.Member) error) error {
	if v.Kind != document.Map {
		return document.Errorf(v.Place, "%s is %s, and not an object", what, v.Kind)
	}
	for _, m := range v.Members {
		switch err := read(m); {
		case errors.Is(err, errUnknown):
			return document.Errorf(m.Place, "%s has an unknown member %q", what, codeunits.Cut(m.Name, maxNamed))
		case err != nil:
			return err
		}
	}
	return nil
}

func text(m document.Member, to *string) error {
	if m.Value.Kind != document.Text {
		return document.Errorf(m.Value.Place, "%s is not a text", m.Name)
	}
	*to = m.Value.Text
	return nil
}

// facetsOf reads a list of facets, of which there is at least one.
func facetsOf(v document.Value) ([]string, error) {
	if v.Kind != document.List || len(v.Items) == 0 || len(v.Items) > maxFacets {
		return nil, document.Errorf(v.Place, "facets is not a list with something in it")
	}
	facets := make([]string, 0, len(v.Items))
	for _, item := range v.Items {
		if item.Kind != document.Text || !label.IsFacet(item.Text) {
			return nil, document.Errorf(item.Place, "facets has something that is no facet: 1 to 64 of a-z, 0-9 and -, no hyphen first")
		}
		facets = append(facets, item.Text)
	}
	return facets, nil
}

// Check holds a configuration against 5.1. What is checked when it is read is checked again before each call.
func (c *Config) Check() error {
	t := c.Transport
	switch {
	case !filepath.IsAbs(c.CLIPath):
		return errors.New("cliPath is not an absolute path")
	case t.Kind != Broker && t.Kind != Direct:
		return fmt.Errorf("transport.kind is neither %q nor %q: no other transport is supported", Broker, Direct)
	case t.Kind == Broker && !filepath.IsAbs(t.QueuePath):
		return errors.New("transport.queuePath is not an absolute path")
	case t.Kind == Direct && !filepath.IsAbs(t.InstanceDir):
		return errors.New("transport.instanceDir is not an absolute path")
	case t.Kind == Direct && !isRunID(t.RunID):
		return fmt.Errorf("transport.runId is not a text of 1 to %d characters without white space around it and without control characters", maxRunID)
	case c.ReadCeilingFile != "" && !filepath.IsAbs(c.ReadCeilingFile):
		return errors.New("readCeilingFile is not an absolute path")
	case c.TimeLimit < 0 || c.TimeLimit > MaxTimeLimit:
		return errors.New("the time limit is out of its bounds")
	case strings.ContainsRune(c.CLIPath+t.QueuePath+t.InstanceDir+c.ReadCeilingFile, 0):
		return errors.New("a path holds a NUL")
	}
	for _, f := range c.Facets {
		if !label.IsFacet(f) {
			return errors.New("facets has something that is no facet")
		}
	}
	return nil
}

func isRunID(id string) bool {
	return id != "" && strings.TrimSpace(id) == id && codeunits.Count(id) <= maxRunID &&
		!strings.ContainsFunc(id, func(c rune) bool { return c < ' ' })
}

// JSON writes the configuration on one line, for [ReadConfig].
func (c *Config) JSON() []byte {
	transport := document.MapOf(document.M("kind", document.TextOf(c.Transport.Kind)))
	for _, m := range []struct{ name, value string }{
		{"queuePath", c.Transport.QueuePath}, {"instanceDir", c.Transport.InstanceDir}, {"runId", c.Transport.RunID}, {"actor", c.Transport.Actor},
	} {
		if m.value != "" {
			transport.Members = append(transport.Members, document.M(m.name, document.TextOf(m.value)))
		}
	}
	v := document.MapOf(document.M("cliPath", document.TextOf(c.CLIPath)), document.M("transport", transport))
	if c.ReadCeilingFile != "" {
		v.Members = append(v.Members, document.M("readCeilingFile", document.TextOf(c.ReadCeilingFile)))
	}
	if c.Facets != nil {
		v.Members = append(v.Members, document.M("facets", document.TextsOf(c.Facets)))
	}
	if c.TimeLimit > 0 {
		v.Members = append(v.Members, document.M("timeLimitSeconds", document.IntOf(int64(c.TimeLimit/time.Second))))
	}
	return canonjson.Append(nil, v)
}

// sameFacets compares facets as sorted lists: the order does not count, and how often one stands there does (13, D15).
func sameFacets(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
