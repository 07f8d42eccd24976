package records

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/person"
)

const peopleHelp = `Lists who wrote to you, over all sources. Authors with the same mail address or number are one
person; equal names are joined only by you. PERSON is an id, or a name or address that only
one person has.`

const peopleExamples = `  pdpp people                              who wrote most
  pdpp people ida --order recent
  pdpp people show 'Ida Lund'              where, how often, and known as what
  pdpp people join 'Ida Lund' ida@boats.example
  pdpp people mine ada@home.example        that is you: it is listed no more`

// NewPeopleCommand returns the command pdpp people.
func NewPeopleCommand(inv *command.Invocation) *cobra.Command {
	q := person.PeopleQuery{}
	cmd := &cobra.Command{
		Use: "people [WORDS]", Short: "List who wrote to you, over all sources", Long: peopleHelp, Example: peopleExamples,
		Args:    cobra.ArbitraryArgs,
		PreRunE: func(*cobra.Command, []string) error { return arguments.CheckLimit(q.Limit) },
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			q.Search = strings.Join(args, " ")
			found, err := o.People(ctx, q)
			return inv.Show(err, found, func() { printPeople(inv, found) })
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Kind, "kind", "person", "person, automatic (addresses of programs) or mine (you)")
	flags.StringVar(&q.Order, "order", "records", "records, recent or name")
	flags.IntVar(&q.Limit, "limit", 50, "at most this many")
	flags.IntVar(&q.Skip, "skip", 0, "leave out so many at the beginning")
	cmd.AddCommand(newPersonCommand(inv),
		personAction(inv, "join PERSON OTHER", "State that two people are one", 2, "They are one person now.\n",
			func(ctx context.Context, o api.Owner, id string, args []string) error {
				other, err := findPerson(ctx, o, args[1])
				if err != nil {
					return err
				}
				return o.JoinPeople(ctx, id, other)
			}),
		personAction(inv, "split PERSON IDENTITY", "State that a name or address of a person is somebody else", 2,
			"Taken apart.\n", func(ctx context.Context, o api.Owner, id string, args []string) error {
				return o.SplitPerson(ctx, id, args[1])
			}),
		personAction(inv, "mine PERSON", "State that a person is you", 1, "Noted.\n",
			func(ctx context.Context, o api.Owner, id string, _ []string) error {
				return o.SetPersonMine(ctx, id, true)
			}),
		personAction(inv, "notmine PERSON", "State that a person is not you", 1, "Noted.\n",
			func(ctx context.Context, o api.Owner, id string, _ []string) error {
				return o.SetPersonMine(ctx, id, false)
			}))
	return cmd
}

func printPeople(inv *command.Invocation, found person.List) {
	if len(found.People) == 0 {
		output.Printf(inv.Out, "No person matches.\n")
		return
	}
	t := inv.NewTable("PERSON", "NAME", "MESSAGES", "LAST", "SOURCES")
	for _, p := range found.People {
		last := "unknown"
		if p.Last != nil {
			last = p.Last.Local().Format("2006-01-02")
		}
		t.Row(p.ID, output.SingleLine(p.Name), fmt.Sprint(p.Records), last, output.SingleLine(strings.Join(p.Sources, ", ")))
	}
	t.Flush()
	if found.Total > len(found.People) {
		output.Printf(inv.Out, "%s in all.\n", text.Count(int64(found.Total), "person", "people"))
	}
}

func newPersonCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "show PERSON", Short: "Show one person over all sources", Args: arguments.Required("a person"),
		Example: "  pdpp people show 'Ida Lund'",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			id, err := findPerson(ctx, o, args[0])
			if err != nil {
				return err
			}
			p, err := o.Person(ctx, id)
			return inv.Show(err, p, func() { printPerson(inv, p) })
		}),
	}
}

func printPerson(inv *command.Invocation, p person.Person) {
	output.Printf(inv.Out, "%s: %s", output.SingleLine(p.Name), text.Count(p.Records, "message", "messages"))
	if p.First != nil && p.Last != nil {
		output.Printf(inv.Out, " from %s to %s", p.First.Local().Format("2 January 2006"),
			p.Last.Local().Format("2 January 2006"))
	}
	output.Printf(inv.Out, "\n\n")
	t := inv.NewTable("IDENTITY", "KNOWN AS", "ADDRESS", "SOURCE", "MESSAGES", "JOINED BY")
	for _, i := range p.Identities {
		joined := map[string]string{"address": "the same address", "owner": "you"}[i.Joined]
		t.Row(i.ID, output.SingleLine(i.Name), output.SingleLine(i.Address), output.SingleLine(i.ConnectionName),
			fmt.Sprint(i.Records), joined)
	}
	t.Flush()
	for _, s := range p.Similar {
		output.Printf(inv.Out, "The same person? pdpp people join %s %s  (%s, %s)\n", p.ID, s.ID, output.SingleLine(s.Name),
			output.SingleLine(strings.Join(s.Sources, ", ")))
	}
}

// personAction returns a command that states something about a person.
func personAction(inv *command.Invocation, use, short string, n int, done string,
	do func(ctx context.Context, o api.Owner, id string, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(n),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			id, err := findPerson(ctx, o, args[0])
			if err != nil {
				return err
			}
			if err := do(ctx, o, id, args); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"person_id": id}, "%s", done)
		}),
	}
}

// findPerson returns the id of a person that is named by an id, a name or an address.
func findPerson(ctx context.Context, o api.Owner, named string) (string, error) {
	if strings.HasPrefix(named, "per_") {
		return named, nil
	}
	var all []person.ListedPerson
	for _, kind := range []string{"person", "automatic", "mine"} {
		found, err := o.People(ctx, person.PeopleQuery{Search: named, Kind: kind})
		if err != nil {
			return "", err
		}
		all = append(all, found.People...)
	}
	var exact []person.ListedPerson
	for _, p := range all {
		if strings.EqualFold(p.Name, named) {
			exact = append(exact, p)
		}
	}
	switch {
	case len(exact) == 1:
		return exact[0].ID, nil
	case len(all) == 1:
		return all[0].ID, nil
	case len(all) == 0:
		return "", &failure.Error{Code: "not_found", Exit: failure.ExitUsage,
			Message: fmt.Sprintf("no person is called %s", output.SingleLine(named)), Next: "See who there is: pdpp people"}
	}
	return "", &failure.Error{Code: "ambiguous", Exit: failure.ExitUsage,
		Message: fmt.Sprintf("%s have %s in a name or an address", text.Count(int64(len(all)), "person", "people"),
			output.SingleLine(named)),
		Next: "Use the id of one of them: pdpp people " + output.SingleLine(named)}
}
