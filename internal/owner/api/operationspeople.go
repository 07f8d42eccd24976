package api

import "github.com/pdpp-go/pdpp/internal/web/reply"

// peopleOperations are about the people who wrote what is kept.
var peopleOperations = []Operation{
	{Call: Owner.People, Route: "GET /_ref/people", Scope: reply.ScopeRead, Name: "listPeople", Tag: "records",
		Summary: "The people who wrote to the owner, over all sources", Page: true, Schema: "PersonList"},
	{Call: Owner.Person, Route: "GET /_ref/people/{id}", Scope: reply.ScopeRead, Name: "getPerson", Tag: "records",
		Summary: "One person, with the names and addresses in each source"},
	{Call: Owner.JoinPeople, Route: "POST /_ref/people/{id}/join", Scope: reply.ScopeManage, Name: "joinPeople",
		Tag: "records", Summary: "State that two people are one", Argument: "other",
		ArgumentNote: "The id of the other person.", Audit: "setting_change", Setting: "people"},
	{Call: Owner.SplitPerson, Route: "POST /_ref/people/{id}/split", Scope: reply.ScopeManage, Name: "splitPerson",
		Tag: "records", Summary: "State that an identity is another person", Argument: "identity",
		ArgumentNote: "The id of the identity.", Audit: "setting_change", Setting: "people"},
	{Call: Owner.SetPersonMine, Route: "POST /_ref/people/{id}/mine", Scope: reply.ScopeManage, Name: "setPersonMine",
		Tag: "records", Summary: "State whether a person is the owner", Argument: "mine",
		ArgumentNote: "True if the person is the owner.", Audit: "setting_change", Setting: "people"},
}
