package words

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func TestSearchHonesty(t *testing.T) {
	t.Parallel()
	mail := api.KeptSource{ConnectionID: "m", Name: "Mail", Complete: true, Records: 3, FirstDay: "2025-11-02"}
	chat := api.KeptSource{ConnectionID: "c", Name: "Chat", Say: "Behind since 24 March"}
	for _, c := range []struct {
		found bool
		all   []api.KeptSource
		of    string
		want  string
	}{
		{false, []api.KeptSource{mail}, "", "Complete, so there is none: Mail since November 2025."},
		{false, []api.KeptSource{mail, chat}, "", "Complete, so there is none: Mail since November 2025. " +
			"A match may exist that is not here yet: Chat (Behind since 24 March)."},
		{false, []api.KeptSource{mail, chat}, "c", "A match may exist that is not here yet: Chat (Behind since 24 March)."},
		{true, []api.KeptSource{mail, chat}, "", "Some results may be missing: Chat (Behind since 24 March)."},
		{true, []api.KeptSource{mail}, "", ""},
	} {
		if got := SearchHonesty(c.found, c.all, c.of); got != c.want {
			t.Errorf("found %v of %q: %q, want %q", c.found, c.of, got, c.want)
		}
	}
}
