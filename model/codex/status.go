package codex

import "time"

// Status is what can be told of a login without using it. It holds no token.
type Status struct {
	File string // the path that was looked at
	// Problem says why the login cannot be used; empty where it can.
	Problem string
	// ExpiresAt is when the access token ends; zero where no token could be read.
	ExpiresAt time.Time
	// Left is how long it still lives, in whole seconds; zero when it has ended.
	Left time.Duration
	// NotRenewable says why the tokens cannot be renewed; empty where they can, or where there are
	// none.
	NotRenewable string
}

// Usable reports whether a run can use the login, renewing it first if it must.
func (s Status) Usable() bool { return s.Problem == "" }

// Renewable reports whether the tokens could be renewed now, as far as this machine can tell.
func (s Status) Renewable() bool { return !s.ExpiresAt.IsZero() && s.NotRenewable == "" }

// Inspect looks at the login in the file at path. It changes nothing and opens no connection.
func Inspect(path string) Status { return inspect(path, time.Now) }

func inspect(path string, now func() time.Time) Status {
	s := Status{File: path}
	file, err := readAuthFile(path)
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	at := now()
	l := &Login{path: path, now: func() time.Time { return at }}
	s.ExpiresAt = file.expires
	s.Left = max(file.expires.Sub(at), 0).Truncate(time.Second)
	if err := l.renewable(file); err != nil {
		s.NotRenewable = err.Error()
		if l.due(file.expires) {
			s.Problem = l.ending(file, err).Error()
		}
	}
	return s
}
