package exec

import (
	"errors"
	"math"
	"strconv"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// expr is a compiled arithmetic expression over numbered variables.
type expr func(vars []float64) float64

// exprParser is a recursive descent parser of expressions: sums of products of powers.
type exprParser struct {
	src      string
	position int
	vars     []string
	depth    int
}

// parseMath parses the expression of a math().
func parseMath(src string) (e expr, vars []string, err error) {
	p := &exprParser{src: src, vars: plan.MathVariables(src)}
	if e, err = p.sum(); err != nil {
		return nil, nil, err
	}
	p.skip()
	if p.position < len(p.src) {
		return nil, nil, p.fail()
	}
	return e, p.vars, nil
}

func (p *exprParser) fail() error {
	return value.Errorf("math(): syntax error at position %d: %s", p.position+1, p.src)
}

func (p *exprParser) skip() {
	for p.position < len(p.src) && (p.src[p.position] == ' ' || p.src[p.position] == '\t' || p.src[p.position] == '\n') {
		p.position++
	}
}

// next consumes one of the operators and returns it, or 0.
func (p *exprParser) next(ops string) byte {
	p.skip()
	if p.position < len(p.src) {
		for i := range len(ops) {
			if p.src[p.position] == ops[i] {
				p.position++
				return ops[i]
			}
		}
	}
	return 0
}

func (p *exprParser) sum() (expr, error) {
	p.depth++
	if p.depth > 100 {
		return nil, value.Errorf("math(): the expression is nested too deeply")
	}
	defer func() { p.depth-- }()
	left, err := p.product()
	for err == nil {
		op := p.next("+-")
		if op == 0 {
			break
		}
		l := left
		var r expr
		if r, err = p.product(); err != nil {
			break
		}
		if op == '+' {
			left = func(v []float64) float64 { return l(v) + r(v) }
		} else {
			left = func(v []float64) float64 { return l(v) - r(v) }
		}
	}
	return left, err
}

func (p *exprParser) product() (expr, error) {
	left, err := p.unary()
	for err == nil {
		op := p.next("*/%")
		if op == 0 {
			break
		}
		l := left
		var r expr
		if r, err = p.unary(); err != nil {
			break
		}
		switch op {
		case '*':
			left = func(v []float64) float64 { return l(v) * r(v) }
		case '/':
			left = func(v []float64) float64 { return l(v) / r(v) }
		default:
			left = func(v []float64) float64 { return math.Mod(l(v), r(v)) }
		}
	}
	return left, err
}

func (p *exprParser) unary() (expr, error) {
	switch p.next("+-") {
	case '-':
		e, err := p.unary()
		return func(v []float64) float64 { return -e(v) }, err
	case '+':
		return p.unary()
	}
	return p.power()
}

func (p *exprParser) power() (expr, error) {
	base, err := p.atom()
	if err != nil || p.next("^") == 0 {
		return base, err
	}
	exp, err := p.unary()
	return func(v []float64) float64 { return math.Pow(base(v), exp(v)) }, err
}

func (p *exprParser) atom() (expr, error) {
	if p.next("(") != 0 {
		e, err := p.sum()
		if err == nil && p.next(")") == 0 {
			err = p.fail()
		}
		return e, err
	}
	p.skip()
	start := p.position
	for p.position < len(p.src) && isWordByte(p.src, p.position, start) {
		p.position++
	}
	word := p.src[start:p.position]
	if word == "" {
		return nil, p.fail()
	}
	if word[0] == '.' || word[0] >= '0' && word[0] <= '9' { // inf and nan are names, not numbers
		f, err := strconv.ParseFloat(word, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // 1e999 is infinite, as in Java
			return nil, p.fail()
		}
		return func([]float64) float64 { return f }, nil
	}
	return p.variableOrFunction(word)
}

// isWordByte reports whether the byte at i belongs to a number or name that starts at start.
func isWordByte(s string, i, start int) bool {
	c := s[i]
	if c == '+' || c == '-' {
		// The sign of an exponent: 1e-5.
		return i > start && (s[i-1] == 'e' || s[i-1] == 'E') && s[start] >= '0' && s[start] <= '9'
	}
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

var mathFunctions = map[string]func(float64) float64{
	"abs": math.Abs, "acos": math.Acos, "asin": math.Asin, "atan": math.Atan, "cbrt": math.Cbrt, "ceil": math.Ceil, "cos": math.Cos,
	"cosh": math.Cosh, "exp": math.Exp, "floor": math.Floor, "log": math.Log, "log10": math.Log10, "log2": math.Log2, "sin": math.Sin,
	"sinh": math.Sinh, "sqrt": math.Sqrt, "tan": math.Tan, "tanh": math.Tanh,
	"signum": func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	},
}

func (p *exprParser) variableOrFunction(word string) (expr, error) {
	if fn := mathFunctions[word]; fn != nil {
		// Without parentheses, a function applies to everything that follows: sin _ + 1.
		open := p.next("(") != 0
		arg, err := p.sum()
		if err == nil && open && p.next(")") == 0 {
			err = p.fail()
		}
		return func(v []float64) float64 { return fn(arg(v)) }, err
	}
	for i, name := range p.vars {
		if name == word {
			return func(v []float64) float64 { return v[i] }, nil
		}
	}
	return nil, p.fail()
}

// mathOp computes an expression for each row.
func (r *run) mathOp(s *plan.Math, next op) (op, error) {
	e, vars, err := parseMath(s.Expr)
	if err != nil {
		return nil, err
	}
	bys, err := r.projectors(s.Bys)
	if err != nil {
		return nil, err
	}
	nums := make([]float64, len(vars))
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		for k, name := range vars {
			v, ok, err := r.mathVar(in, i, name, bys[k%len(bys)])
			if err != nil || !ok {
				return graph.Null, false, err
			}
			nums[k] = v
		}
		return graph.Double(e(nums)), true, nil
	}), nil
}

func (r *run) mathVar(in *batch, i int, name string, by projector) (float64, bool, error) {
	var v graph.Value
	var ok bool
	var err error
	if name == "_" {
		v, ok, err = by.row(in, i)
	} else {
		v, _, err = r.lookupLabel(in, i, name, plan.PopLast) // null if nothing has the name
		if err == nil {
			v, ok, err = by.project(v)
		}
	}
	if err != nil || !ok {
		return 0, false, err
	}
	if !v.IsNumber() {
		return 0, false, value.Errorf("The variable %s for math() step must resolve to a Number - it is instead of type %s with value %s",
			name, value.ClassName(v), value.Text(r, v))
	}
	return value.Float64(v), true, nil
}
