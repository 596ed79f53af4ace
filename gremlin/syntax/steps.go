package syntax

// row is one row of the table of steps; see parseForms for the notation.
type row struct {
	name     string
	category Category
	forms    string
	doc      string
}

// starters are the steps that may follow g directly.
var starters = []string{"V", "E", "inject", "union", "addV", "addE", "mergeV", "mergeE", "io", "call"}

// Reasons for which steps are rejected. noMutation repeats the message of TinkerPop's ReadOnlyStrategy.
const (
	noMutation    = "changes the graph: the provided traversal has a mutating step and thus is not read only"
	noOutside     = "reaches outside the graph, and queries are read-only"
	noTransaction = "controls a transaction, and queries are read-only"
	noComputer    = "needs a graph computer, which this engine does not have"
)

// replacements holds, by the name of a rejected step, the query text to write in its place. Errors suggest it.
var replacements = map[string]string{
	"shortestPath": "repeat(both().simplePath()).until(...).path().limit(1)",
	"program":      "repeat()",
	"withComputer": "the traversal without it",
}

// sourceRows are the steps that configure g.
var sourceRows = []row{
	{"with", SourceStep, "key:str | key:str, value:value$", "sets an option of the request, such as evaluationTimeout"},
	{"withBulk", SourceStep, "use:bool", "says whether equal traversers may be counted instead of repeated"},
	{"withPath", SourceStep, "-", "keeps the path of every traverser"},
	{"withSack", SourceStep, "initial:value$ | initial:value$, merge:Operator", "gives every traverser a sack"},
	{"withSideEffect", SourceStep, "name:str, initial:value$ | name:str, initial:value$, merge:Operator", "registers a side effect with its first value"},
	{"withStrategies", SourceStep, "strategy:strategy, more...:strategy", "adds strategies"},
	{"withoutStrategies", SourceStep, "strategy:strategy, more...:strategy", "removes strategies"},
	{"withComputer", RefusedStep, "options...:value$", noComputer},
	{"tx", RefusedStep, "-", noTransaction},
}

// mapRows are the steps with one result per traverser.
var mapRows = []row{
	{"asBool", MapStep, "-", "reads the value as a boolean"},
	{"asDate", MapStep, "-", "reads the value as a date"},
	{"asNumber", MapStep, "- | type:GType", "reads the value as a number, of the given type if there is one"},
	{"asString", MapStep, "- | scope:Scope", "writes the value as a string"},
	{"combine", MapStep, "values:value/traversal$", "appends the given list to the list"},
	{"concat", MapStep, "traversals:traversal, more...:traversal | strings...:str?$", "appends strings, or the results of traversals, to the string"},
	{"conjoin", MapStep, "delimiter:str", "joins the list's items into a string"},
	{"constant", MapStep, "value:value$", "replaces the traverser by the value"},
	{"count", MapStep, "- | scope:Scope", "counts traversers, or with local the items of each"},
	{"dateAdd", MapStep, "unit:DT, amount:int$", "moves the date by an amount of a unit"},
	{"dateDiff", MapStep, "date:date$ | traversal:traversal", "returns the difference to the other date in milliseconds"},
	{"difference", MapStep, "values:value/traversal$", "returns the set of items that are not in the given list"},
	{"disjunct", MapStep, "values:value/traversal$", "returns the set of items that are in one of the two lists only"},
	{"element", MapStep, "-", "goes from a property to its element"},
	{"elementMap", MapStep, "keys...:str?$", "returns a map of id, label, edge ends and property values"},
	{"fold", MapStep, "- | seed:value$, operator:Operator", "collects all traversers in a list, or reduces them"},
	{"format", MapStep, "template:str", "fills in the template's %{name} from labels, properties and by()"},
	{"id", MapStep, "-", "returns the element's id"},
	{"index", MapStep, "-", "pairs the items of a collection with their position"},
	{"intersect", MapStep, "values:value/traversal$", "returns the set of items that are in both lists"},
	{"key", MapStep, "-", "returns the property's key"},
	{"label", MapStep, "-", "returns the element's label"},
	{"length", MapStep, "- | scope:Scope", "returns the string's length"},
	{"loops", MapStep, "- | name:str", "returns the number of iterations of repeat()"},
	{"lTrim", MapStep, "- | scope:Scope", "removes leading white space"},
	{"map", MapStep, "traversal:traversal", "replaces the traverser by the traversal's first result"},
	{"match", MapStep, "patterns...:traversal", "solves the patterns together and returns a map of their labels"},
	{"math", MapStep, "expression:str", "computes the expression; _ is the traverser, names are labels"},
	{"max", MapStep, "- | scope:Scope", "returns the greatest value"},
	{"mean", MapStep, "- | scope:Scope", "returns the average"},
	{"merge", MapStep, "values:value/traversal$", "merges the given list or map with the current one"},
	{"min", MapStep, "- | scope:Scope", "returns the smallest value"},
	{"order", MapStep, "- | scope:Scope", "sorts; by() gives the keys"},
	{"path", MapStep, "-", "returns the path of the traverser"},
	{"product", MapStep, "values:value/traversal$", "pairs each item with each item of the given list"},
	{"project", MapStep, "names:str, more...:str?", "returns a map of the names; by() gives each value"},
	{"propertyMap", MapStep, "keys...:str?$", "returns a map of the element's properties"},
	{"replace", MapStep, "old:str?, new:str? | scope:Scope, old:str?, new:str?", "replaces all occurrences of a part of the string"},
	{"reverse", MapStep, "-", "reverses the string or list"},
	{"rTrim", MapStep, "- | scope:Scope", "removes trailing white space"},
	{"sack", MapStep, "- | operator:Operator", "returns the sack, or puts by() into it with the operator"},
	{"select", MapStep, "label:str, more...:str? | pop:Pop, label:str, more...:str? | column:Column | traversal:traversal | pop:Pop, traversal:traversal", "goes back to labelled steps, or takes map entries"},
	{"shortestPath", RefusedStep, "-", noComputer},
	{"split", MapStep, "separator:str? | scope:Scope, separator:str?", "splits the string into a list"},
	{"substring", MapStep, "start:int | start:int, end:int | scope:Scope, start:int | scope:Scope, start:int, end:int", "returns a part of the string; negative positions count from the end"},
	{"sum", MapStep, "- | scope:Scope", "adds up the values"},
	{"toLower", MapStep, "- | scope:Scope", "writes the string in lower case"},
	{"toUpper", MapStep, "- | scope:Scope", "writes the string in upper case"},
	{"tree", MapStep, "- | name:str", "collects paths in a tree, as a result or under a name"},
	{"trim", MapStep, "- | scope:Scope", "removes leading and trailing white space"},
	{"value", MapStep, "-", "returns the property's value"},
	{"valueMap", MapStep, "keys...:str?$ | tokens:bool, keys...:str?$", "returns a map of lists of property values"},
}

// flatMapRows are the steps with any number of results per traverser.
var flatMapRows = []row{
	{"both", FlatMapStep, "labels...:str?$", "goes to neighbours, in either direction"},
	{"bothE", FlatMapStep, "labels...:str?$", "goes to edges, in either direction"},
	{"bothV", FlatMapStep, "-", "goes to both ends of the edge"},
	{"E", FlatMapStep, "ids...:value$", "goes to all edges, or to those with the ids"},
	{"flatMap", FlatMapStep, "traversal:traversal", "replaces the traverser by the traversal's results"},
	{"in", FlatMapStep, "labels...:str?$", "goes to neighbours, against the edges"},
	{"inE", FlatMapStep, "labels...:str?$", "goes to incoming edges"},
	{"inject", FlatMapStep, "values...:value$", "adds values to the stream"},
	{"inV", FlatMapStep, "-", "goes to the vertex the edge points to"},
	{"otherV", FlatMapStep, "-", "goes to the end of the edge from which the traverser did not come"},
	{"out", FlatMapStep, "labels...:str?$", "goes to neighbours, along the edges"},
	{"outE", FlatMapStep, "labels...:str?$", "goes to outgoing edges"},
	{"outV", FlatMapStep, "-", "goes to the vertex the edge starts at"},
	{"properties", FlatMapStep, "keys...:str?$", "goes to the element's properties"},
	{"toE", FlatMapStep, "direction:Direction, labels...:str?$", "goes to edges in the direction"},
	{"toV", FlatMapStep, "direction:Direction", "goes to the edge's end in the direction"},
	{"unfold", FlatMapStep, "-", "goes to the items of a collection"},
	{"V", FlatMapStep, "ids...:value$", "goes to all vertices, or to those with the ids"},
	{"values", FlatMapStep, "keys...:str?$", "goes to the values of the element's properties"},
}

// filterRows are the steps that keep or drop a traverser.
var filterRows = []row{
	{"all", FilterStep, "predicate:P", "keeps lists whose items all satisfy the predicate"},
	{"and", FilterStep, "traversals...:traversal", "keeps what every traversal has a result for; between steps without arguments, joins both sides"},
	{"any", FilterStep, "predicate:P", "keeps lists with an item that satisfies the predicate"},
	{"coin", FilterStep, "probability:num", "keeps each traverser with a probability"},
	{"cyclicPath", FilterStep, "-", "keeps paths that visit an object repeatedly"},
	{"dedup", FilterStep, "labels...:str? | scope:Scope, labels...:str?", "keeps the first of equal objects"},
	{"discard", FilterStep, "-", "keeps nothing"},
	{"filter", FilterStep, "predicate:P | traversal:traversal", "keeps what satisfies the predicate or has a result"},
	{"has", FilterStep, "key:str? | key:str?, valueOrPredicate:value/P$ | label:str?$, key:str?, valueOrPredicate:value/P$ | token:T, valueOrPredicate:value/P$", "keeps elements with the property, or with that value of it"},
	{"hasId", FilterStep, "id:value$, more...:value$ | predicate:P", "keeps elements with one of the ids"},
	{"hasKey", FilterStep, "key:str?, more...:str? | predicate:P", "keeps properties with one of the keys"},
	{"hasLabel", FilterStep, "label:str?$, more...:str?$ | predicate:P", "keeps elements with one of the labels"},
	{"hasNot", FilterStep, "key:str?", "keeps elements without the property"},
	{"hasValue", FilterStep, "value:value$, more...:value$ | predicate:P", "keeps properties with one of the values"},
	{"is", FilterStep, "valueOrPredicate:value/P$", "keeps what equals the value or satisfies the predicate"},
	{"limit", FilterStep, "count:int$ | scope:Scope, count:int$", "keeps the first traversers, or with local the first items of each"},
	{"none", FilterStep, "predicate:P", "keeps lists with no item that satisfies the predicate"},
	{"not", FilterStep, "traversal:traversal", "keeps what the traversal has no result for"},
	{"or", FilterStep, "traversals...:traversal", "keeps what some traversal has a result for; between steps without arguments, joins both sides"},
	{"range", FilterStep, "low:int$, high:int$ | scope:Scope, low:int$, high:int$", "keeps the positions from low up to, not including, high"},
	{"sample", FilterStep, "count:int | scope:Scope, count:int", "keeps traversers, or with local items of each, chosen at random"},
	{"simplePath", FilterStep, "-", "keeps paths without repetition"},
	{"skip", FilterStep, "count:int$ | scope:Scope, count:int$", "drops the first traversers, or with local the first items of each"},
	{"tail", FilterStep, "- | count:int$ | scope:Scope | scope:Scope, count:int$", "keeps the last traversers, or with local the last items of each; one if there is no count"},
	{"timeLimit", FilterStep, "milliseconds:int", "passes traversers for a limited time"},
	{"where", FilterStep, "predicate:P | label:str, predicate:P | traversal:traversal", "keeps what satisfies a predicate over labels or has a result"},
}

// otherRows are side effects, branches, modulators, terminals and rejected steps.
var otherRows = []row{
	{"aggregate", SideEffectStep, "name:str | scope:Scope, name:str", "collects everything under a name, then passes it on; the old scope local means local(aggregate(name))"},
	{"barrier", SideEffectStep, "- | size:int | barrier:Barrier", "collects all traversers and merges equal ones"},
	{"cap", SideEffectStep, "name:str, more...:str?", "returns the side effect with the name"},
	{"fail", SideEffectStep, "- | message:str", "ends the query with an error"},
	{"group", SideEffectStep, "- | name:str", "groups by the first by() and reduces by the second"},
	{"groupCount", SideEffectStep, "- | name:str", "counts traversers by the value of by()"},
	{"identity", SideEffectStep, "-", "changes nothing"},
	{"profile", SideEffectStep, "- | name:str", "measures every step"},
	{"sideEffect", SideEffectStep, "traversal:traversal", "runs the traversal and passes the traverser on"},
	{"store", SideEffectStep, "name:str", "the old spelling of local(aggregate(name))"},
	{"subgraph", SideEffectStep, "name:str", "collects edges and their ends as a graph"},

	{"branch", BranchStep, "traversal:traversal", "sends the traverser to the options its result names"},
	{"choose", BranchStep, "choice:T/Column/traversal | test:P/traversal, then:traversal | test:P/traversal, then:traversal, else:traversal", "takes one of two traversals, or the option its result names"},
	{"coalesce", BranchStep, "traversals...:traversal", "takes the first traversal that has a result"},
	{"local", BranchStep, "traversal:traversal", "runs the traversal for each traverser separately"},
	{"optional", BranchStep, "traversal:traversal", "takes the traversal's results, or the traverser if there are none"},
	{"repeat", BranchStep, "traversal:traversal | name:str, traversal:traversal", "runs the traversal repeatedly; see times(), until() and emit()"},
	{"union", BranchStep, "traversals...:traversal", "takes the results of all traversals"},

	{"as", ModulatorStep, "label:str, more...:str?", "labels the step"},
	{"by", ModulatorStep, "- | order:Order | token:T/Column | token:T/Column, order:Order | key:str | key:str, order:Order | traversal:traversal | traversal:traversal, order:Order", "gives the previous step a key, traversal or order to use"},
	{"emit", ModulatorStep, "- | predicate:P | traversal:traversal", "says which intermediate results repeat() returns"},
	{"from", ModulatorStep, "label:str | traversal:traversal", "says where the path, or the new edge, starts"},
	{"option", ModulatorStep, "pick:value/P/traversal$, traversal:traversal | traversal:traversal | merge:Merge, map:map?$ | merge:Merge, map:map?$, cardinality:Cardinality | merge:Merge, traversal:traversal", "gives choose() or branch() an option"},
	{"times", ModulatorStep, "count:int", "sets the number of iterations of repeat()"},
	{"to", ModulatorStep, "label:str | traversal:traversal | direction:Direction, labels...:str?$", "says where the path, or the new edge, ends; with a direction, goes to neighbours"},
	{"until", ModulatorStep, "predicate:P | traversal:traversal", "says when repeat() stops"},
	{"with", ModulatorStep, "option:str/WithOptions | option:str/WithOptions, value:value/WithOptions", "sets an option of the previous step"},

	{"explain", TerminalStep, "-", "returns the plan instead of results"},
	{"hasNext", TerminalStep, "-", "returns whether there is a result"},
	{"iterate", TerminalStep, "-", "runs the query for its side effects"},
	{"next", TerminalStep, "- | count:int", "returns the first result, or the first few"},
	{"toBulkSet", TerminalStep, "-", "returns results with their counts"},
	{"toList", TerminalStep, "-", "returns all results"},
	{"toSet", TerminalStep, "-", "returns all distinct results"},
	{"tryNext", TerminalStep, "-", "returns the first result if there is one"},

	{"addE", MutatingStep, "label:str$ | label:traversal", noMutation},
	{"addV", MutatingStep, "- | label:str$ | label:traversal", noMutation},
	{"drop", MutatingStep, "-", noMutation},
	{"mergeE", MutatingStep, "- | match:map?$ | match:traversal", noMutation},
	{"mergeV", MutatingStep, "- | match:map?$ | match:traversal", noMutation},
	{"property", MutatingStep, "key:value, value:value/traversal$, more...:value$ | cardinality:Cardinality, key:value, value:value/traversal$, more...:value$ | map:map?$ | cardinality:Cardinality, map:map?$", noMutation},

	{"call", RefusedStep, "- | service:str, more...:value/traversal$", noOutside},
	{"connectedComponent", RefusedStep, "-", noComputer},
	{"io", RefusedStep, "file:str", noOutside},
	{"pageRank", RefusedStep, "- | alpha:num", noComputer},
	{"peerPressure", RefusedStep, "-", noComputer},
	{"program", RefusedStep, "program:value", noComputer},
	{"read", RefusedStep, "-", noOutside},
	{"write", RefusedStep, "-", noOutside},
}
