package chatgpt_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	sim "github.com/pdpp-go/pdpp/providersim/chatgpt"
)

// TestDeletedConversations deletes conversations, which the site does not announce, and hides others from its lists.
// Nothing is checked within the week. After it, deleted conversations are deleted once, and existing ones stay even
// if lists omit them. Nothing is deleted in a week in which conversations cannot be requested.
func TestDeletedConversations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, g := noted(t, sim.Config{Seed: 3, Chats: 130, Projects: 3, MaxPage: 30})
		removed := map[string]bool{}
		n.Observe = func(m protocol.Message) {
			if r, ok := m.(*protocol.Record); ok && r.Stream == sim.StreamConversations {
				removed[r.Key] = r.Op == protocol.OpDelete
			}
		}
		deleted := func() (keys []string) {
			for key, is := range removed {
				if is {
					keys = append(keys, key)
				}
			}
			slices.Sort(keys)
			return keys
		}
		run := func() int {
			t.Helper()
			before := g.Gate().Stats().ByPattern["GET /backend-api/conversations"]
			n.Run()
			return g.Gate().Stats().ByPattern["GET /backend-api/conversations"] - before
		}
		change := func(op string, times int) []string {
			t.Helper()
			out, err := g.Mutate(providersim.Mutation{Op: op, N: times})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(out.IDs)
			return out.IDs
		}
		run()
		hidden := change("hide_chats", 4)
		gone := change("delete_chats", 3)
		gone = slices.DeleteFunc(gone, func(id string) bool { return slices.Contains(hidden, id) })
		time.Sleep(6 * 24 * time.Hour)
		quick := run()
		if got := deleted(); len(got) > 0 {
			t.Fatalf("within the week %v are deleted", got)
		}
		time.Sleep(25 * time.Hour)
		if walked := run(); walked <= quick {
			t.Errorf("%d pages after a week, %d before: the lists were not walked", walked, quick)
		}
		if got := deleted(); !slices.Equal(got, gone) {
			t.Fatalf("%v are deleted, want %v of which %v are hidden", got, gone, hidden)
		}
		if again := run(); again != quick {
			t.Errorf("the next run read %d pages, want %d", again, quick)
		}

		more := change("delete_chats", 2)
		time.Sleep(8 * 24 * time.Hour)
		if _, err := g.Gate().Add(providersim.Fault{Kind: providersim.ServerError,
			Path: "/backend-api/conversation/"}); err != nil {
			t.Fatal(err)
		}
		run()
		if got := deleted(); !slices.Equal(got, gone) {
			t.Fatalf("without an answer %v are deleted", got)
		}
		g.Gate().Clear()
		time.Sleep(time.Hour)
		run()
		want := append(slices.Clone(gone), more...)
		slices.Sort(want)
		if got := deleted(); !slices.Equal(got, slices.Compact(want)) {
			t.Errorf("%v are deleted, want %v", got, want)
		}
	})
}
