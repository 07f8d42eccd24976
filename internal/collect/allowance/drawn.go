package allowance

import (
	"cmp"
	"context"
	"slices"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// drawn is an allowance that runs of this process draw on. The hub's lock guards it.
type drawn struct {
	key       string
	members   []store.AllowanceMember // of all processes, by place
	here      map[string]*drawing     // by run
	elsewhere bool                    // there are others
}

// drawing is one run of this process.
type drawing struct {
	hub   *Hub
	of    *drawn
	runID string
	hear  func(runner.Part)

	last runner.Part // that it heard of

	news, learned             protocol.Numbers
	newsToTell, learnedToTell bool
}

// take takes over who draws on it by the store, and gives the runs elsewhere whose news are new. A run of this
// process counts as long as it is here: the store may say so later, or no more.
func (d *drawn) take(members []store.AllowanceMember) (news []string) {
	known := map[string]store.AllowanceMember{}
	for _, m := range d.members {
		known[m.RunID] = m
	}
	d.elsewhere = false
	for _, m := range members {
		if d.here[m.RunID] != nil {
			continue
		}
		d.elsewhere = true
		if len(m.News) > 0 && string(known[m.RunID].News) != string(m.News) {
			news = append(news, m.RunID)
		}
	}
	for _, m := range d.members {
		if d.here[m.RunID] != nil && !slices.ContainsFunc(members, func(n store.AllowanceMember) bool { return n.RunID == m.RunID }) {
			members = append(members, m)
		}
	}
	d.members = slices.SortedFunc(slices.Values(members), func(a, b store.AllowanceMember) int { return cmp.Compare(a.Joined, b.Joined) })
	return news
}

// part is which part a run has.
func (d *drawn) part(of *drawing) runner.Part { return d.placed(d.place(of.runID)) }

func (d *drawn) place(runID string) int {
	return slices.IndexFunc(d.members, func(m store.AllowanceMember) bool { return m.RunID == runID })
}

// placed is the part at a place. Beyond the bound places are given twice.
func (d *drawn) placed(i int) runner.Part {
	return runner.Part{Runs: min(len(d.members), protocol.MaxAllowanceRuns), Place: max(0, i) % protocol.MaxAllowanceRuns}
}

// spread tells the runs of this process which part they have, and news of the given ones; but for one.
func (d *drawn) spread(but *drawing, news []string) {
	for _, own := range d.here {
		if own == but {
			continue
		}
		p := d.part(own)
		for _, id := range news {
			if n, ok := d.newsOf(id); ok && id != own.runID {
				p.News = append(p.News, n)
			}
		}
		if len(p.News) > 0 || p.Runs != own.last.Runs || p.Place != own.last.Place {
			own.last = p
			own.hear(p)
		}
	}
}

// newsFor are the news of all others, for one who comes.
func (d *drawn) newsFor(own *drawing) (all []protocol.AllowanceNews) {
	for _, m := range d.members {
		if n, ok := d.newsOf(m.RunID); ok && m.RunID != own.runID && len(all) < protocol.MaxAllowanceRuns-1 {
			all = append(all, n)
		}
	}
	return all
}

// newsOf are what a run told last, from memory if it is of this process.
func (d *drawn) newsOf(runID string) (protocol.AllowanceNews, bool) {
	i := d.place(runID)
	if i < 0 {
		return protocol.AllowanceNews{}, false
	}
	numbers := numbersOf(d.members[i].News)
	if own := d.here[runID]; own != nil {
		numbers = own.news
	}
	p := d.placed(i)
	return protocol.AllowanceNews{From: d.members[i].Joined, Runs: p.Runs, Place: p.Place, Numbers: numbers}, len(numbers) > 0
}

// Tell passes news on to the runs of this process. Those of others hear of them at the next look.
func (w *drawing) Tell(news, learned protocol.Numbers) {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	if len(learned) > 0 {
		w.learned, w.learnedToTell = learned, true
	}
	if len(news) > 0 {
		w.news, w.newsToTell = news, true
		w.of.spread(w, []string{w.runID})
	}
}

// untold is what the store has not been told yet, which counts as told now: what is lost is said again.
func (w *drawing) untold() (store.Told, bool) {
	t := store.Told{Key: w.of.key, RunID: w.runID}
	if w.newsToTell {
		t.News = stored(w.news)
	}
	if w.learnedToTell {
		t.Learned = stored(w.learned)
	}
	w.newsToTell, w.learnedToTell = false, false
	return t, t.News != nil || t.Learned != nil
}

// Leave gives the run's part to the others of this process at once. Those of other processes get it with the end of
// the run's lease.
func (w *drawing) Leave(ctx context.Context) {
	h, d := w.hub, w.of
	h.mu.Lock()
	w.newsToTell = false // nobody is beside a run that is over
	told, something := w.untold()
	delete(d.here, w.runID)
	d.members = slices.DeleteFunc(d.members, func(m store.AllowanceMember) bool { return m.RunID == w.runID })
	if d.spread(nil, nil); len(d.here) == 0 {
		delete(h.drawn, d.key)
	}
	h.mu.Unlock()
	if something {
		_ = h.Store.TellAllowances(ctx, []store.Told{told}, h.Now()) // what is not kept is learned again
	}
}
