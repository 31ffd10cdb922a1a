package wire

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
)

// endpointError is an error in an endpoint's own words. There is no standard for them, so each part
// may be missing.
type endpointError struct {
	isError bool // else there is no error, or the message is just what was there instead
	message string
	codes   []string // "code" and "type", the more exact one first
	status  int      // where the code is an HTTP status
}

// readError takes the words from the body of an HTTP answer.
func readError(body []byte) endpointError {
	tree, err := strictjson.Parse(body, strictjson.MaxDepth)
	if err != nil || tree.Kind != document.Map {
		return endpointError{message: strings.TrimSpace(string(body))}
	}
	return errorIn(tree, true)
}

// errorIn takes the words from an object: from its member "error", or from itself if bare is set.
// Seen in use: {"error": {"message", "type", "code"}}, {"error": "text"}, {"message", "code"} and
// {"detail"}.
func errorIn(object document.Value, bare bool) endpointError {
	inner, ok := Present(object, "error")
	if !ok {
		if !bare {
			return endpointError{}
		}
		inner = object
	}
	said := endpointError{isError: true}
	if inner.Kind == document.Text {
		said.message = inner.Text
		return said
	}
	for _, name := range []string{"message", "detail"} {
		if v, _ := inner.Get(name); v.Kind == document.Text && said.message == "" {
			said.message = v.Text
		}
	}
	for _, name := range []string{"code", "type"} {
		switch v, _ := inner.Get(name); v.Kind {
		case document.Text:
			said.codes = append(said.codes, v.Text)
		case document.Number:
			said.status, _ = strconv.Atoi(v.Text)
		}
	}
	return said
}

// failure gives the words a class, behind what happened.
func (e endpointError) failure(class model.Class, what string) *model.Failure {
	if e.message == "" {
		return model.Fail(class, nil, "%s", what)
	}
	return model.Fail(class, nil, "%s: %s", what, e.message)
}

// brokeOff gives the words their class where they end an answer that had begun.
func (e endpointError) brokeOff() *model.Failure {
	class, known := e.class()
	if !known {
		class = model.Incomplete
	}
	return e.failure(class, "the endpoint broke off the answer")
}

// class says what the codes mean, if one of them is known.
func (e endpointError) class() (model.Class, bool) {
	for _, code := range e.codes {
		if class, ok := classOfCode[code]; ok {
			return class, true
		}
	}
	if e.status >= 300 && e.status <= 599 {
		return classOfStatus(e.status), true
	}
	return "", false
}

// classOfCode knows the codes and types that providers use. The general ones stand here too; a more exact code is looked up before a type.
var classOfCode = map[string]model.Class{
	"server_is_overloaded":  model.Unavailable,
	"overloaded":            model.Unavailable,
	"overloaded_error":      model.Unavailable,
	"engine_overloaded":     model.Unavailable,
	"slow_down":             model.Unavailable,
	"service_unavailable":   model.Unavailable,
	"unavailable":           model.Unavailable,
	"unavailable_error":     model.Unavailable,
	"rate_limit_exceeded":   model.Unavailable,
	"rate_limit_error":      model.Unavailable,
	"server_error":          model.Unavailable,
	"internal_error":        model.Unavailable,
	"internal_server_error": model.Unavailable,
	"api_error":             model.Unavailable,
	"timeout":               model.Unavailable,
	"timeout_error":         model.Unavailable,

	"invalid_api_key":      model.Unauthorized,
	"authentication_error": model.Unauthorized,
	"permission_error":     model.Unauthorized,
	"permission_denied":    model.Unauthorized,
	"billing_error":        model.Unauthorized,
	"insufficient_quota":   model.Unauthorized,

	"context_length_exceeded":   model.TooLarge,
	"exceed_context_size_error": model.TooLarge,
	"string_above_max_length":   model.TooLarge,
	"request_too_large":         model.TooLarge,

	"content_filter":           model.Refused,
	"content_policy_violation": model.Refused,

	"unsupported_parameter": model.Unsupported,
	"unsupported_value":     model.Unsupported,
	"not_supported_error":   model.Unsupported,

	"invalid_request_error": model.InvalidRequest,
	"model_not_found":       model.InvalidRequest,
	"not_found_error":       model.InvalidRequest,
}

// classOfStatus says what an HTTP status other than 200 means (governed-runs 7.5).
func classOfStatus(status int) model.Class {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden:
		return model.Unauthorized
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests:
		return model.Unavailable
	case status == http.StatusRequestEntityTooLarge:
		return model.TooLarge
	case status >= 500:
		return model.Unavailable
	case status >= 400:
		return model.InvalidRequest
	case status >= 300:
		return model.Unsupported // a redirect is not followed
	default:
		return model.Malformed
	}
}
