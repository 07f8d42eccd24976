package grants

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the owner left ticked is granted as the app asked for it, whatever else the answer carries. Anything that was
// not asked for is refused.
func TestNarrow(t *testing.T) {
	t.Parallel()
	letters := Stream{ConnectionID: "cin_1", Stream: "letters", Fields: []string{"subject"}}
	stars := Stream{ConnectionID: "cin_1", Stream: "stars"}
	scope := GrantedStreams{letters, stars}
	for name, c := range map[string]struct{ ticked, want GrantedStreams }{
		"no choice":   {nil, scope},
		"one of two":  {GrantedStreams{stars}, GrantedStreams{stars}},
		"more fields": {GrantedStreams{{ConnectionID: "cin_1", Stream: "letters"}}, GrantedStreams{letters}},
	} {
		got, err := Narrow(scope, c.ticked)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for _, other := range []Stream{{ConnectionID: "cin_1", Stream: "secrets"},
		{ConnectionID: "cin_2", Stream: "letters"}} {
		if got, err := Narrow(scope, GrantedStreams{letters, other}); err == nil || got != nil {
			t.Errorf("%+v was not asked for, and %+v is granted", other, got)
		}
	}
}
