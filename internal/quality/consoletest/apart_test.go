//pdpp:tier programs

package consoletest

import (
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/providersim/chatgpt"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// town is a console and a worker of two machines over one database, beside a simulated site.
type town struct {
	web, worker *house
	sim         *chatgpt.Server
	database    string
}

func newTown(t *testing.T, c chatgpt.Config) *town {
	t.Helper()
	sim, err := chatgpt.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Close() })
	at, err := url.Parse(sim.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	database := postgrestest.NewDatabase(t)
	env := []string{"PDPP_DATABASE_URL=" + database, "PDPP_CREDENTIAL_ENCRYPTION_KEY=" + strings.Repeat("5c", 32),
		"PDPP_CHATGPT_BASE_URL=" + sim.BaseURL, "PDPP_BROWSER_LOCAL=" + at.Host}
	w := &town{web: found(t, env...), worker: found(t, env...), sim: sim, database: database}
	w.web.open("serve", "--role", "web")
	w.web.listen = strings.TrimPrefix(w.web.ready.URL, "http://") // also when it comes back
	w.worker.open("serve", "--role", "worker")
	return w
}

// stored counts the records of a stream.
func (w *town) stored(t *testing.T, stream string) int64 {
	t.Helper()
	st, err := postgres.Open(t.Context(), w.database, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	streams, err := st.Streams(t.Context(), "cin_chatgpt_1")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range streams {
		if s.Name == stream {
			return s.Records
		}
	}
	return 0
}

// The owner signs in on the page of a worker's browser, in the console of another machine.
// That console is killed meanwhile and comes back; later the worker is killed, and another
// takes over.
func TestSignInFromAnotherMachine(t *testing.T) {
	t.Parallel() // it waits for a lease to run out
	who := signin.Account{ID: "user-linden-07", Name: "Linden Marsh", Email: "linden@example.org",
		Password: "quarry-heron-8841"}
	w := newTown(t, chatgpt.Config{Seed: 5, Chats: 6, Signin: signin.Config{Accounts: []signin.Account{who}}})
	site := w.sim.Sim.Site()
	b := w.web.signIn(t)
	w.web.pdpp("connect", "chatgpt", "--no-wait")
	b.visit(signInPage + "?opening")
	b.until(stageLive)
	if got := b.text(`[data-part=origin]`); got != w.sim.BaseURL {
		t.Errorf("the page is said to be at %q", got)
	}

	w.web.kill()
	b.until(`document.querySelector(".stage").dataset.state === "lost"`)
	w.web.open("serve", "--role", "web")
	b.until(`document.querySelector(".stage").dataset.state === "live"`)
	b.signs(site, who)
	b.until(stageOver)
	b.visit("/sources")
	b.until(`document.querySelector("#row-cin_chatgpt_1[data-tone=green]") !== null`)
	if n := w.stored(t, "conversations"); n != 6 {
		t.Errorf("%d conversations are stored", n)
	}

	if _, err := site.Do(signin.Order{SignOut: true}); err != nil {
		t.Fatal(err)
	}
	w.web.pdpp("run", "cin_chatgpt_1", "--now")
	b.visit(signInPage + "?opening")
	b.until(stageLive)
	w.worker.kill()
	b.until(`document.querySelector(".stage").dataset.state === "lost"`)
	w.worker.open("serve", "--role", "worker")
	b.until(`document.querySelector("[data-when='over-closed']:not([hidden])") !== null`)
	b.visit("/sources")
	b.until(`document.querySelector("#row-cin_chatgpt_1 [data-action=reauth]") !== null`) // the schedule has tried
	b.visit(signInPage)
	b.submit(`form[action="` + signInPage + `"] button`)
	b.signs(site, who)
	b.until(stageOver)
	b.visit("/sources")
	b.until(`document.querySelector("#row-cin_chatgpt_1[data-tone=green]") !== null`)
	w.web.close()
	w.worker.close()
	for _, h := range []*house{w.web, w.worker} {
		h.holdsNot(who.Password) // the rows are elsewhere
	}
	w.holdsNot(t, who.Password)
}

// holdsNot looks for a secret in every row of the database.
func (w *town) holdsNot(t *testing.T, secret string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), w.database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	names, err := db.Query(t.Context(), `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(names, pgx.RowTo[string])
	if err != nil || len(tables) < 20 {
		t.Fatal(tables, err)
	}
	for _, table := range tables {
		var n int
		if err := db.QueryRow(t.Context(),
			`SELECT count(*) FROM `+pgx.Identifier{table}.Sanitize()+` AS r WHERE strpos(r::text, $1) > 0`,
			secret).Scan(&n); err != nil || n > 0 {
			t.Errorf("%d rows of %s hold what was typed: %v", n, table, err)
		}
	}
}
