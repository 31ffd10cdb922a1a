package run_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/workingcontext"
)

// The report holds no word of the intent, of arguments, of results or of evidence.
func TestTheAccountHoldsNoWordOfTheRun(t *testing.T) {
	const (
		intent    = "Please repair ABC-12 quickly für Müller"
		arguments = "because somebody asked"
		report    = "Everything seems alright, honestly; result-shaped secret-4711"
	)
	s := looks(append(repeat(70, calls(fmt.Sprintf(`thing_look {"why":%q}`, arguments))), calls(`read_history {"sequence":3}`), calls("thing_look {}")),
		deed{says: report, why: "witnesses vanished"}, deed{refuses: "denied sternly"}, deed{says: strings.Repeat(report, 200)})
	s.intent, s.classifier, s.budget = intent, []turn{calls(`pick_protocol {"protocol":"workshop@1","confidence":1,"reasons":["obviously fitting"]}`)}, new(71)
	p := s.play(t)
	account := string(p.account.JSON())
	if p.err != nil || !strings.Contains(account, `"phase": "classification"`) || !strings.Contains(account, `"retrievals": 1`) {
		t.Fatalf("error %v: %s", p.err, account)
	}
	for _, word := range strings.FieldsFunc(strings.Join([]string{
		intent, arguments, report, "witnesses vanished", "denied sternly", "obviously fitting",
		"workshop", "thing.look", "thing-1", "m-agent", "m-small",
	}, " "), func(c rune) bool { return strings.ContainsRune(" .,;", c) }) {
		if strings.Contains(account, word) {
			t.Errorf("the report holds %q", word)
		}
	}
	holdsMembers(t, account)
}

// holdsMembers checks that a report has the members of 7.6 and no others.
func holdsMembers(t *testing.T, account string) {
	t.Helper()
	v, err := strictjson.Parse([]byte(account), strictjson.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	var names, request []string
	for _, m := range v.Members {
		names = append(names, m.Name)
	}
	requests, _ := v.Get("requests")
	for _, m := range requests.Items[0].Members {
		request = append(request, m.Name)
	}
	if diff := cmp.Diff("checkpoints elapsed_ms model_calls policy requests retrievals", strings.Join(names, " ")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("cache_read_tokens cache_write_tokens elapsed_ms final_usage input_tokens output_tokens phase request_bytes", strings.Join(request, " ")); diff != "" {
		t.Error(diff)
	}
}

// Each attempt has an entry with its own time and usage; what a provider did not report is null (158,
// 163). The waits between attempts are the run's.
func TestTheAccountOfAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := func(then turn) turn {
			return func(r model.Request) (model.Reply, error) {
				time.Sleep(250 * time.Millisecond)
				return then(r)
			}
		}
		overload := func(model.Request) (model.Reply, error) {
			return model.Reply{}, model.Fail(model.Unavailable, nil, "overloaded")
		}
		used := replies(model.Reply{
			Calls: []model.Call{{Name: "thing_look", Arguments: "{}"}}, Stop: model.StopToolCalls,
			Usage: &model.Usage{InputTokens: new(uint64(812)), CachedInputTokens: new(uint64(0)), OutputTokens: new(uint64(24)), Final: true},
		})
		s := looks([]turn{pause(overload), pause(look), pause(used), pause(func(model.Request) (model.Reply, error) {
			failure := model.Fail(model.Refused, nil, "no")
			failure.Usage = &model.Usage{InputTokens: new(uint64(7))}
			return model.Reply{}, failure
		})})
		p := &played{account: run.NewAccount(run.ContextBounded, time.Now)}
		o := s.options(p)
		o.Agent = model.Retry(o.Agent)
		if _, err := run.Run(t.Context(), o); err == nil {
			t.Fatal("the run did not fail")
		}
		size := func(i int) int { return workingcontext.Size(p.asked[i]) }
		entry := func(bytes int, final bool, in, cached, out string) string {
			return fmt.Sprintf("{\"cache_read_tokens\":%s,\"cache_write_tokens\":null,\"elapsed_ms\":250,\"final_usage\":%v,\"input_tokens\":%s,\"output_tokens\":%s,\"phase\":\"selection\",\"request_bytes\":%d}",
				cached, final, in, out, bytes)
		}
		want := `{"checkpoints":0,"elapsed_ms":2000,"model_calls":4,"policy":"bounded","requests":[` + strings.Join([]string{
			entry(size(0), false, "null", "null", "null"), entry(size(0), false, "null", "null", "null"),
			entry(size(2), true, "812", "0", "24"), entry(size(3), false, "7", "null", "null"),
		}, ",") + `],"retrievals":0}`
		got := strings.NewReplacer("\n", "", " ", "").Replace(string(p.account.JSON()))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// Keeping an account changes nothing.
func TestARunWithoutAnAccount(t *testing.T) {
	s := looks(append(repeat(66, look), calls(`read_history {"sequence":1}`), look))
	s.budget = new(67)
	with, without := s.play(t), &played{}
	outcome, err := run.Run(t.Context(), s.options(without))
	if err != nil {
		t.Fatal(err)
	}
	outcome.Run = with.outcome.Run // each run draws its own
	if diff := cmp.Diff(with.outcome, outcome) + cmp.Diff(with.events, without.events) + cmp.Diff(with.asked, without.asked); diff != "" {
		t.Error(diff)
	}
}

// A client that does not tell of attempts has made one, and its failure's usage counts too.
func TestTheAccountOfAClientThatAsksOnce(t *testing.T) {
	s := looks([]turn{look, func(model.Request) (model.Reply, error) {
		failure := model.Fail(model.Incomplete, nil, "broke off")
		failure.Usage = &model.Usage{OutputTokens: new(uint64(3))}
		return model.Reply{}, failure
	}})
	s.policy = ""
	p := s.play(t)
	account := string(p.account.JSON())
	if !strings.Contains(account, `"model_calls": 2`) || !strings.Contains(account, `"output_tokens": 3`) || !strings.Contains(account, `"policy": "legacy"`) {
		t.Errorf("error %v: %s", p.err, account)
	}
}
