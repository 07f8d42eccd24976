package sharedquota

import (
	"cmp"
	"context"
	"slices"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// quota is a quota with members of this process. The hub's lock guards it.
type quota struct {
	key     string
	members []store.AllowanceMember // of all processes, in order of joining
	local   map[string]*member      // of this process, by run
	remote  bool                    // other processes have members
}

// member is one run of this process in a quota.
type member struct {
	hub    *Hub
	quota  *quota
	runID  string
	update func(runner.QuotaShare)

	last runner.QuotaShare // the last one passed to update

	news, learned               protocol.Numbers
	newsChanged, learnedChanged bool // since the last write to the store
}

// setMembers sets the members from the store and returns the runs of other processes with new news. A run of this
// process stays a member until it leaves, even when the store does not list it yet or any more.
func (q *quota) setMembers(members []store.AllowanceMember) (news []string) {
	known := map[string]store.AllowanceMember{}
	for _, m := range q.members {
		known[m.RunID] = m
	}
	q.remote = false
	for _, m := range members {
		if q.local[m.RunID] != nil {
			continue
		}
		q.remote = true
		if len(m.News) > 0 && string(known[m.RunID].News) != string(m.News) {
			news = append(news, m.RunID)
		}
	}
	for _, m := range q.members {
		listed := slices.ContainsFunc(members, func(n store.AllowanceMember) bool { return n.RunID == m.RunID })
		if q.local[m.RunID] != nil && !listed {
			members = append(members, m)
		}
	}
	q.members = slices.SortedFunc(slices.Values(members), func(a, b store.AllowanceMember) int {
		return cmp.Compare(a.Joined, b.Joined)
	})
	return news
}

func (q *quota) shareOf(m *member) runner.QuotaShare { return q.shareAt(q.memberIndex(m.runID)) }

func (q *quota) memberIndex(runID string) int {
	return slices.IndexFunc(q.members, func(m store.AllowanceMember) bool { return m.RunID == runID })
}

// shareAt returns the share of the member with this index. Members beyond the protocol's bound reuse places.
func (q *quota) shareAt(i int) runner.QuotaShare {
	return runner.QuotaShare{Runs: min(len(q.members), protocol.MaxAllowanceRuns),
		Place: max(0, i) % protocol.MaxAllowanceRuns}
}

// notify passes changed shares, and the news of the named runs, to the members of this process except one.
func (q *quota) notify(except *member, news []string) {
	for _, own := range q.local {
		if own == except {
			continue
		}
		p := q.shareOf(own)
		for _, id := range news {
			if n, ok := q.newsOf(id); ok && id != own.runID {
				p.News = append(p.News, n)
			}
		}
		if len(p.News) > 0 || p.Runs != own.last.Runs || p.Place != own.last.Place {
			own.last = p
			own.update(p)
		}
	}
}

// newsFor returns the news of all other members, for a member that joins.
func (q *quota) newsFor(own *member) (all []protocol.AllowanceNews) {
	for _, m := range q.members {
		if n, ok := q.newsOf(m.RunID); ok && m.RunID != own.runID && len(all) < protocol.MaxAllowanceRuns-1 {
			all = append(all, n)
		}
	}
	return all
}

// newsOf returns the latest news of a run, from memory if it belongs to this process.
func (q *quota) newsOf(runID string) (protocol.AllowanceNews, bool) {
	i := q.memberIndex(runID)
	if i < 0 {
		return protocol.AllowanceNews{}, false
	}
	numbers := decodeNumbers(q.members[i].News)
	if own := q.local[runID]; own != nil {
		numbers = own.news
	}
	p := q.shareAt(i)
	news := protocol.AllowanceNews{From: q.members[i].Joined, Runs: p.Runs, Place: p.Place, Numbers: numbers}
	return news, len(numbers) > 0
}

// Publish passes news to the members of this process. Other processes get them with the next refresh.
func (w *member) Publish(news, learned protocol.Numbers) {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	if len(learned) > 0 {
		w.learned, w.learnedChanged = learned, true
	}
	if len(news) > 0 {
		w.news, w.newsChanged = news, true
		w.quota.notify(w, []string{w.runID})
	}
}

// takeUpdate returns the news that the store does not have and marks them as written. A lost update is harmless,
// because the next one contains it.
func (w *member) takeUpdate() (store.AllowanceUpdate, bool) {
	t := store.AllowanceUpdate{Key: w.quota.key, RunID: w.runID}
	if w.newsChanged {
		t.News = encodeNumbers(w.news)
	}
	if w.learnedChanged {
		t.Learned = encodeNumbers(w.learned)
	}
	w.newsChanged, w.learnedChanged = false, false
	return t, t.News != nil || t.Learned != nil
}

// Leave ends the membership. The other members of this process get larger shares at once, those of other processes
// when the run's lease ends.
func (w *member) Leave(ctx context.Context) {
	h, q := w.hub, w.quota
	h.mu.Lock()
	w.newsChanged = false // news of an ended run do not matter
	update, changed := w.takeUpdate()
	delete(q.local, w.runID)
	q.members = slices.DeleteFunc(q.members, func(m store.AllowanceMember) bool { return m.RunID == w.runID })
	if q.notify(nil, nil); len(q.local) == 0 {
		delete(h.quotas, q.key)
	}
	h.mu.Unlock()
	if changed {
		_ = h.Store.UpdateAllowances(ctx, []store.AllowanceUpdate{update}, h.Now()) // lost numbers are learned again
	}
}
