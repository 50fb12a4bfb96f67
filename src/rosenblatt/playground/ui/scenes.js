// The scenes of the tour: a link and what is said about it. Text between * is stressed.

export const SCENES = [
	{
		title: "A line that decides",
		link: "#data=blobs&n=24&margin=0.5&seed=4&learner=perceptron,start:0.8_-0.6_0.3&epochs=1&speed=2",
		text: [
			"A *hyperplane* is all x with w·x + b = 0: here, a line. The *weight vector* w stands square on it and points to the positive side; b moves the line off the origin.",
			"The answer is the sign of the *score* a = w·x + b. Hollow points are on the wrong side.",
		],
		task: "Drag the handle at the tip of w, or type w₁, w₂ and b under “Learner”. Can you leave no point hollow?",
	},
	{
		title: "One update",
		link: "#classes=-1,%2B1&points=1.5,0.5,1;-0.5,1.5,0;-1.5,-1,0;1,-1.2,1&epochs=20&step=2&speed=1",
		text: [
			"The perceptron looks at one row at a time. If y·a ≤ 0 it was a *mistake*, and it adds y·x to w, and y to b. If the answer was right, nothing changes.",
			"The short arrow is that push: row 2 is negative, so x is taken from w, and the line swings over.",
		],
		task: "Press → to step, ← to go back. Read the arithmetic under “This step”.",
	},
	{
		title: "Why it helps",
		link: "#classes=-1,%2B1&points=2,1,1;1.2,-0.4,0;-1,0.8,0;0.4,1.6,1&epochs=40&step=2&speed=1",
		text: [
			"After the push the score of that row has moved by ‖x‖² (plus 1 for b) towards its label: maybe not far enough, but always the right way.",
			"It may spoil other rows. The theorem says that this cannot go on for ever.",
		],
		task: "Go to the next mistake (M) and watch the line turn towards the mistaken row.",
	},
	{
		title: "Learning AND",
		link: "#data=and&step=36",
		text: [
			"Only (1, 1) is positive. The perceptron goes round and round over the rows; an *epoch* is one round. After 18 mistakes a whole epoch has none: it has *converged*, to w = (3, 2), b = −4.",
			"The dashed band reaches to the nearest row: its half width is the *margin* of these weights.",
		],
		task: "Scrub the timeline: every tick is a mistake.",
	},
	{
		title: "The theorem at work",
		link: "#data=blobs&n=24&margin=0.3&seed=38&epochs=400&step=130&speed=30",
		text: [
			"Let u be the best direction and γ its margin. Each mistake makes w·u grow by at least γ; but ‖w‖² grows by at most R². So k·γ ≤ w·u ≤ ‖w‖ ≤ √k·R.",
			"A straight line overtakes a square root: at k = *R²/γ²* there is no room left. No order of the rows can cause more mistakes.",
		],
		task: "Play to the end, then pull the Margin slider: a wider margin closes the wedge sooner.",
	},
	{
		title: "XOR: what no line can do",
		link: "#data=xor&epochs=12&step=48&proof=yes",
		text: [
			"One or the other, not both. The perceptron goes in circles, and *failing to converge proves nothing*. This does: the diagonals meet, and there a point would have to be on both sides.",
			"In numbers: 1·row 1 + 1·row 4 = 1·row 2 + 1·row 3. No weights can tell equal things apart.",
		],
		task: "Drag a corner until the diagonals no longer meet: at once the verdict is “separable”.",
	},
	{
		title: "Averaging and voting",
		link: "#data=noise&n=100&noise=0.16&seed=2&learner=perceptron&learner=perceptron,keep:average&learner=perceptron,keep:vote&learner=perceptron,keep:pocket&epochs=8&step=437&speed=30",
		text: [
			"Where classes overlap, the last weights are an accident of the last mistake. Keep more: the *average* of all; a *vote* of all, each with the time it survived; or the best so far in the *pocket*.",
			"All four make the same mistakes; only the answers differ.",
		],
		task: "Play: the first line jumps about, the others stay calm. How many rows has each wrong?",
	},
	{
		title: "The kernel trick",
		link: "#data=circles&n=90&noise=0.12&seed=2&learner=perceptron&learner=perceptron,kernel:poly&learner=perceptron,kernel:rbf&epochs=20&step=1800&speed=100",
		text: [
			"w is a sum of mistaken rows, so a score is a sum of products x·x′. Replace each by a *kernel* K(x, x′), and the same algorithm separates in a richer space.",
			"Rings show the rows in the sum. The line fails on circles; (1 + x·x′)² and exp(−γ‖x − x′‖²) need only a few mistakes.",
		],
		task: "Go back to XOR or the moons. The playground is yours.",
	},
]
