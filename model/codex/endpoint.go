package codex

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/wire"
)

// provider is who gave the login and answers with it.
type provider struct {
	tokenURL string
	clientID string
	baseURL  string
	roots    *x509.CertPool // nil: the system's
}

// openAI is the provider of every Codex login.
var openAI = provider{
	// The token endpoint of the provider's OAuth server (RFC 6749, section 3.2).
	tokenURL: "https://auth.openai.com/oauth/token",
	// The public client identifier of the Codex program, which stands in its published source. A
	// refresh token is bound to the client it was given to, and a public client has no secret
	// (RFC 6749, sections 2.1 and 6).
	clientID: "app_EMoamEEZ73f0CkXaXp7hrann",
	// Where a Codex login is good (governed-runs 7.4).
	baseURL: "https://chatgpt.com/backend-api/codex",
}

const (
	// renewTime bounds a renewal from its connection to the last byte of its answer. It is short
	// because a renewal is not given up when its caller is: see [Login.Token].
	renewTime = 15 * time.Second
	// maxGrant bounds the answer to a renewal, three tokens at most.
	maxGrant boundedfile.Size = 64 << 10
	// maxErrorCode bounds a code of the endpoint that is worth repeating, in bytes.
	maxErrorCode = 64
)

// grant is what a renewal gave. The refresh token and the identity token may be zero.
type grant struct {
	access, refresh, id model.Secret
}

// token gives the token that belongs into the member of that name.
func (g grant) token(member string) model.Secret {
	switch member {
	case "access_token":
		return g.access
	case "refresh_token":
		return g.refresh
	case "id_token":
		return g.id
	}
	return model.Secret{}
}

// renew sends one request for new tokens (RFC 6749, section 6). It follows no redirect, uses no proxy
// and says nothing of what it sent.
func (p provider) renew(ctx context.Context, refresh model.Secret) (grant, *model.Failure) {
	ctx, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	g, failure := p.exchange(ctx, refresh)
	if failure != nil {
		// The provider may have done its part although no good answer came. So this is no failure
		// after which a request is sent again, whatever its class.
		failure.Started = true
		failure.Hide(refresh)
		return grant{}, failure
	}
	return g, nil
}

func (p provider) exchange(ctx context.Context, refresh model.Secret) (grant, *model.Failure) {
	form := url.Values{
		"grant_type":    {"refresh_token"},
		"client_id":     {p.clientID},
		"refresh_token": {refresh.Reveal()},
	}.Encode()
	// Without GetBody the transport cannot send the request again by itself.
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.tokenURL, io.NopCloser(strings.NewReader(form)))
	if err != nil {
		return grant{}, model.Fail(model.InvalidRequest, nil, "the token endpoint has no valid address")
	}
	request.ContentLength = int64(len(form))
	request.Header = http.Header{
		"Accept":       {"application/json"},
		"Content-Type": {"application/x-www-form-urlencoded"},
		"User-Agent":   {"loom"},
	}
	transport := p.transport()
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return grant{}, unreachable(err)
	}
	defer response.Body.Close()
	body, err := boundedfile.ReadFrom(response.Body, "the answer of the token endpoint", maxGrant)
	if response.StatusCode != http.StatusOK {
		return grant{}, declined(response.StatusCode, body)
	}
	switch {
	case errors.Is(err, boundedfile.ErrTooLarge):
		return grant{}, model.Fail(model.TooLarge, nil, "the answer of the token endpoint exceeds %s", maxGrant)
	case err != nil:
		return grant{}, model.Fail(model.Incomplete, nil, "the answer of the token endpoint broke off")
	}
	return parseGrant(body)
}

// transport is the way to the token endpoint. It is used alone, since it follows no redirect and keeps
// no cookie.
func (p provider) transport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // the default would take it from the environment
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: p.roots},
		MaxResponseHeaderBytes: int64(maxGrant),
		DisableKeepAlives:      true,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
	}
}

// unreachable is the failure of a renewal that got no answer.
func unreachable(err error) *model.Failure {
	if errors.Is(err, context.DeadlineExceeded) {
		return model.Fail(model.Unavailable, nil, "no answer from the token endpoint: it took longer than %v", renewTime)
	}
	failure := wire.Unreachable("the token endpoint", err, "it could not be reached")
	failure.Cause = nil // its text may repeat a token
	return failure
}

// declined is the failure that an answer with a status other than 200 means. Of the endpoint's words
// only a code is repeated: the rest may quote the request, and in it a token.
func declined(status int, body []byte) *model.Failure {
	said := strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
	if code := errorCode(body); code != "" {
		said += ", " + code
	}
	switch {
	case status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500:
		return model.Fail(model.Unavailable, nil, "the token endpoint answered %s; try again later", said)
	case status == http.StatusBadRequest || status == http.StatusUnauthorized || status == http.StatusForbidden:
		// What RFC 6749, section 5.2, has for a token that is expired, withdrawn or used up.
		return model.Fail(model.Unauthorized, nil, "the token endpoint does not renew this login (%s); run codex login", said)
	default:
		return model.Fail(model.Unsupported, nil, "the token endpoint answered %s", said)
	}
}

// errorCode finds the code in {"error": "code"} (RFC 6749, section 5.2) or {"error": {"code": "…"}}.
func errorCode(body []byte) string {
	tree, err := strictjson.Parse(body, strictjson.MaxDepth)
	if err != nil {
		return ""
	}
	code, _ := tree.Get("error")
	if code.Kind == document.Map {
		code, _ = code.Get("code")
	}
	if code.Kind != document.Text || len(code.Text) > maxErrorCode {
		return ""
	}
	for _, c := range []byte(code.Text) {
		if (c < 'a' || c > 'z') && c != '_' {
			return ""
		}
	}
	return code.Text
}

// parseGrant reads a successful answer (RFC 6749, section 5.1). Members beside the tokens are not
// needed.
func parseGrant(body []byte) (grant, *model.Failure) {
	malformed := func(format string, args ...any) (grant, *model.Failure) {
		return grant{}, model.Fail(model.Malformed, nil, "the answer of the token endpoint: "+format, args...)
	}
	tree, err := strictjson.Parse(body, strictjson.MaxDepth)
	switch {
	case err != nil:
		return malformed("%v", err)
	case tree.Kind != document.Map:
		return malformed("it is %s instead of a map", tree.Kind)
	}
	var g grant
	for _, member := range []struct {
		name string
		into *model.Secret
	}{{"access_token", &g.access}, {"refresh_token", &g.refresh}, {"id_token", &g.id}} {
		text, err := textMember(tree, member.name, maxToken)
		if err != nil {
			return malformed("%s %v", member.name, err)
		}
		*member.into = model.NewSecret(text)
	}
	if g.access.IsZero() {
		return malformed("it has no access token")
	}
	if _, err := expiry(g.access.Reveal()); err != nil {
		return malformed("the access token %v", err)
	}
	return g, nil
}
