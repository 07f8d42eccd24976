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

// NeedError means that a run lacks something and is not started. The connector would report another cause, or find
// nothing and report that as complete.
type NeedError struct {
	Need Need
	Name string // which: a program or a variable
	What string // what is wrong with it, in a clause
	Next string // what the owner can do
}

func (e *NeedError) Error() string { return e.Name + " " + e.What }

// Sentence returns what is wrong and what the owner can do.
func (e *NeedError) Sentence() string { return e.Error() + ". " + e.Next }

// Lacks returns what a run of a connection lacks, in the order in which a start needs it. lookup returns the owner's
// values; nil means none.
func (c Connector) Lacks(connectionID string, lookup func(name string) (string, bool)) []*NeedError {
	return c.missingNeeds(c.environment(map[string]string{instanceVariable: connectionID}, lookup))
}

// Unstartable returns why the connector's program cannot be started on this machine, or nil.
func (c Connector) Unstartable() *NeedError {
	if lack := c.modulesProblem(); lack != nil {
		return lack
	}
	_, _, lack := c.start()
	return lack
}

func (c Connector) missingNeeds(env map[string]string) (all []*NeedError) {
	if lack := c.Unstartable(); lack != nil {
		all = append(all, lack)
	}
	all = append(all, c.unsetVariables(env)...)
	for _, p := range c.Manifest.ReadPaths() {
		if lack := c.missingAt(p, env); lack != nil {
			all = append(all, lack)
		}
	}
	if lack := c.missingFiles(env); lack != nil {
		all = append(all, lack)
	}
	return all
}

// unsetVariables returns the required variables without a value. It leaves out credentials, which can be asked for,
// and paths, for which there is a more precise message.
func (c Connector) unsetVariables(env map[string]string) (all []*NeedError) {
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
	if !c.MayReceive(v.Name) {
		e.What, e.Next = "belongs to PDPP, and the connector "+c.Name+" asks for it",
			"Correct the manifest: it may ask for variables of its own."
	}
	return e
}
