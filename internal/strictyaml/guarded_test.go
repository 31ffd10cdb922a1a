package strictyaml

import (
	"errors"
	"testing"
)

func TestAPanicOfTheLibraryBecomesAnError(t *testing.T) {
	failed := errors.New("as usual")
	if err := guarded(func() error { return failed }); err != failed {
		t.Errorf("an error became %v", err)
	}
	if err := guarded(func() error { return nil }); err != nil {
		t.Errorf("success became %v", err)
	}
	refused := syntax(guarded(func() error { panic("unexpected tail comment") }))
	if refused.Message != "the YAML reader gives up: unexpected tail comment" {
		t.Errorf("got %q", refused.Message)
	}
	if at := within([]byte("a"), refused.Place); at.Line != 1 || at.Column != 1 {
		t.Errorf("the place is %v", at)
	}
}
