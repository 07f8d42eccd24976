package rest_test

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// newTasks is a whole simulator: a provider with one list of tasks, a token with a scope, and pages with a cursor.
func newTasks(seed uint64, tasks int) *rest.Service {
	s := rest.New(rest.Options{Seed: seed, Token: "secret", Scopes: []string{"tasks:read"},
		Clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		Limit: rest.Limit{Rate: 100, Window: time.Minute, Announce: true},
		Errors: func(f rest.Refusal) rest.Answer {
			return rest.Answer{Status: f.Status(), Body: rest.Object{"message": f.Problem}}
		}})
	s.Open(&rest.Collection{Stream: "tasks", Count: tasks, Route: "GET /v1/tasks", Scope: "tasks:read",
		Pager: rest.Pager{Style: rest.Token, Place: "cursor", Size: "limit", Usual: 2, Most: 50, Items: "tasks",
			Next: "next_cursor", Total: "total"},
		New: func(row *rest.Row) {
			row.Data = rest.Object{"id": s.NextID(), "at": s.Advance(time.Hour).Format(time.DateTime)}
		},
		Edit: func(row *rest.Row) { row.Data["done"] = true }})
	return s
}

// The smallest simulator is [rest.New] and one [rest.Collection]. It has faults, drift, mutations and the ground truth.
func Example() {
	server, err := providersim.Start("tasks", newTasks(1, 2), "", "")
	if err != nil {
		panic(err)
	}
	defer server.Close()
	get := func(path string) {
		r, _ := http.NewRequest(http.MethodGet, server.BaseURL+path, nil)
		r.Header.Set("Authorization", "Bearer "+server.Sim.Token())
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			panic(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		fmt.Println(resp.StatusCode, string(body))
	}
	get("/v1/tasks?limit=50")
	get("/v1/tasks?cursor=wrong")
	for _, op := range []string{"add_tasks", "change_tasks", "delete_tasks"} {
		if _, err := server.Sim.Mutate(providersim.Mutation{Op: op, N: 1}); err != nil {
			panic(err)
		}
	}
	fmt.Println(len(server.Sim.Truth()["tasks"]), "rows, one of them deleted")
	// Output:
	// 200 {"next_cursor":null,"tasks":[{"at":"2026-03-01 09:00:00","id":1},{"at":"2026-03-01 10:00:00","id":2}],"total":2}
	// 400 {"message":"bad_parameter"}
	// 3 rows, one of them deleted
}
