package retrieval

import "github.com/loomrun/loom/internal/canonjson"

// Code says what became of a call that gives no rows (5.6). These are all there are.
type Code string

// The codes.
const (
	NotConfigured         Code = "not_configured"
	Cancelled             Code = "cancelled"
	InvalidInput          Code = "invalid_input"
	CeilingUnavailable    Code = "ceiling_unavailable"
	CommandFailed         Code = "command_failed"
	HostRefused           Code = "host_refused"
	NotFound              Code = "not_found"
	Contested             Code = "contested"
	SchemaVersionMismatch Code = "schema_version_mismatch"
	MalformedPayload      Code = "malformed_payload"
)

// Failure is a call that gives no rows. Its message is one of a fixed list for its code, and of the model's own input where that is
// what is wrong: nothing that the host program printed is in it, but for a host code of a plain form.
type Failure struct {
	Code     Code
	Message  string
	HostCode string // of [HostRefused]; "" where the host gave none
}

// Error gives the message.
func (f *Failure) Error() string { return f.Message }

// Shown gives the JSON that the model sees, on one line (5.6). The artifact is the same: nothing was observed.
func (f *Failure) Shown(outputID string) []byte {
	dst := canonjson.AppendString([]byte(`{"outputId":`), outputID)
	dst = canonjson.AppendString(append(dst, `,"status":"error","code":`...), string(f.Code))
	dst = canonjson.AppendString(append(dst, `,"message":`...), f.Message)
	if f.HostCode != "" {
		dst = canonjson.AppendString(append(dst, `,"hostCode":`...), f.HostCode)
	}
	return append(dst, '}')
}
