package catalog

import "github.com/pdpp-go/pdpp/manifest"

// Need is a kind of thing that a run cannot do without and that the owner provides.
type Need string

// The kinds.
const (
	NeedInterpreter Need = "interpreter" // the program that starts the connector's
	NeedVariable    Need = "variable"    // a value that the connector declares as required
	NeedFiles       Need = "files"       // what it reads
	// NeedConfirmation is the owner's word for a foreign connector as it is now.
	NeedConfirmation Need = "confirmation"
	// NeedConnector is the connector's own files.
	NeedConnector Need = "connector"
)

// NeedError means that a run lacks something, and is not started: what the connector would
// say of it is not the cause, or it would find nothing and call that complete.
type NeedError struct {
	Need Need
	Name string // which: a program or a variable
	What string // what is wrong with it, in a clause
	Next string // what the owner can do
}

func (e *NeedError) Error() string { return e.Name + " " + e.What }

// Sentence says both what is wrong and what the owner can do.
func (e *NeedError) Sentence() string { return e.Error() + ". " + e.Next }

// Lacks are what a run of a connection would lack, the nearest to its start first. Lookup gives the owner's
// values; nil gives none.
func (c Connector) Lacks(connectionID string, lookup func(name string) (string, bool)) []*NeedError {
	return c.lacks(c.environment(map[string]string{instanceVariable: connectionID}, lookup))
}

// Unstartable says why the connector's program cannot be started on this machine; nil when
// it can.
func (c Connector) Unstartable() *NeedError {
	_, _, lack := c.start()
	return lack
}

func (c Connector) lacks(env map[string]string) (all []*NeedError) {
	if lack := c.Unstartable(); lack != nil {
		all = append(all, lack)
	}
	all = append(all, c.unset(env)...)
	for _, p := range c.Manifest.ReadPaths() {
		if lack := c.missingAt(p, env); lack != nil {
			all = append(all, lack)
		}
	}
	if lack := c.unfound(env); lack != nil {
		all = append(all, lack)
	}
	return all
}

// unset are the required variables that have no value. One that signs in is the matter of
// credentials, which can be asked for; one that names files says more about them.
func (c Connector) unset(env map[string]string) (all []*NeedError) {
	if c.Manifest.RuntimeRequirements == nil {
		return nil
	}
	elsewhere := map[string]bool{}
	for _, name := range c.Manifest.CredentialEnv() {
		elsewhere[name] = true
	}
	for _, p := range c.Manifest.ReadPaths() {
		elsewhere[p.PathEnv] = true
	}
	for _, v := range c.Manifest.RuntimeRequirements.EnvironmentVariables {
		if v.Required && env[v.Name] == "" && !elsewhere[v.Name] {
			all = append(all, c.unsetVariable(v))
		}
	}
	return all
}

func (c Connector) unsetVariable(v manifest.EnvironmentVariable) *NeedError {
	e := &NeedError{Need: NeedVariable, Name: v.Name, What: "is not set, and the connector " + c.Name + " needs it",
		Next: "Set " + v.Name + ", or " + v.Name + "_FILE to a file that holds it, for the program that collects."}
	if !c.mayHave(v.Name) {
		e.What, e.Next = "belongs to PDPP, and the connector "+c.Name+" asks for it", "Correct the manifest: it may ask for variables of its own."
	}
	return e
}
