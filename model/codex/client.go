package codex

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/responses"
	"github.com/loomrun/loom/model/wire"
)

// maxModelID bounds the id of a model, in bytes.
const maxModelID = 256

// accountHeader names the account that a request is for, among those a person may have.
const accountHeader = "ChatGPT-Account-ID"

// New makes a client for one model of the provider, by the id the provider gives it. The login gives
// each request its token; when it cannot, the request fails before a connection is opened. Several
// clients may share a login.
func New(l *Login, id string) (model.Client, error) {
	switch {
	case id == "":
		return nil, errors.New("the model has no id")
	case len(id) > maxModelID:
		return nil, fmt.Errorf("the model's id exceeds %d bytes", maxModelID)
	case !utf8.ValidString(id):
		return nil, errors.New("the model's id is not UTF-8")
	}
	options := []wire.Option{wire.Token(l.Token), wire.Roots(l.provider.roots)}
	if l.accountID != "" {
		options = append(options, wire.Header(accountHeader, l.accountID))
	}
	client, err := responses.New(model.Binding{
		Alias:        id,
		BaseURL:      l.provider.baseURL,
		UpstreamName: id,
		Protocol:     model.Responses,
		// What a request is limited to is the backend's own choice here: it takes no
		// max_output_tokens.
		Capabilities:   model.Capabilities{Tools: true, ToolChoice: true},
		ProviderID:     "openai",
		AccountID:      "codex-login",
		EndpointID:     "codex-backend",
		ServingModelID: id,
		AuthKind:       model.SubscriptionOAuth,
		BillingKind:    model.Subscription,
	}, options...)
	if err != nil {
		return nil, err
	}
	return client, nil
}
