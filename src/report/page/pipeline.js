'use strict';
// The pipeline of a plan: what stages do over time, and what they hold. `tools` are those of page.js.
const pipelineSection = (f, box, { el, svg, seconds, bytes, digits, count, table }) => {
  const t = f.timeline, p = f.pipeline;
  const end = Math.max(...t.spans.map((s) => s.end), 1e-12);
  const lanes = t.lanes.map(() => []);
  for (const span of t.spans) lanes[span.lane].push(span);
  const width = 1000, left = 70, right = 8;
  const x = (s) => left + (width - left - right) * s / end;

  // A colour for each micro-batch; the way back is darker, what comes once is grey.
  const colour = (s) => (s.kind === 'update' ? '#8b949e'
    : `hsl(${(s.micro_batch * 137.5) % 360} 65% ${s.kind === 'forward' ? 68 : 46}%)`);
  const words = (s) => (s.kind === 'update' ? 'update' : `${s.kind} of micro-batch ${s.micro_batch}`)
    + (p.interleave > 1 && s.kind !== 'update' ? `, part ${s.chunk}` : '');

  const chart = (height, label) => svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`,
    role: 'img', 'aria-label': label });
  const bar = (box, attributes, from, to, title) => {
    const rect = svg('rect', { x: x(from), width: Math.max(0.5, x(to) - x(from)), ...attributes });
    rect.append(svg('title', {}, title));
    box.append(rect);
  };

  const timeline = () => {
    const lane = 26, height = lane * t.lanes.length + 24;
    const drawn = chart(height, `${t.lanes.length} stages over ${seconds(end)}`);
    lanes.forEach((spans, i) => {
      const y = lane * i + 4, tall = lane - 8;
      drawn.append(svg('text', { x: 8, y: lane * i + 18 }, t.lanes[i]));
      const wait = (from, to) => {
        if (to - from < end * 1e-6) return;
        bar(drawn, { y, height: tall, class: 'wait' }, from, to,
          `${t.lanes[i]} waits for ${seconds(to - from)}: ${seconds(from)} to ${seconds(to)}`);
      };
      let free = 0;
      for (const span of spans) {
        wait(free, span.begin);
        free = span.end;
        if (span.end === span.begin) continue;
        bar(drawn, { y, height: tall, fill: colour(span), class: 'task' }, span.begin, span.end,
          `${t.lanes[i]}, ${words(span)}: ${seconds(span.begin)} to ${seconds(span.end)}, ${bytes(span.bytes)} held`);
      }
      if (!t.left_out) wait(free, end);
    });
    drawn.append(svg('text', { x: width - right, y: height - 6, 'text-anchor': 'end' }, seconds(end)));
    return drawn;
  };

  // What a device of each stage holds over time, one below the other.
  const memory = () => {
    const tall = 54, most = Math.max(1, ...t.spans.map((s) => s.bytes));
    const drawn = chart(tall * lanes.length + 8, `memory of ${t.lanes.length} stages over time`);
    lanes.forEach((spans, i) => {
      const low = tall * (i + 1), y = (b) => low - (tall - 12) * b / most;
      drawn.append(svg('text', { x: 8, y: low - 16 }, t.lanes[i]),
        svg('text', { x: 8, y: low - 2 }, bytes(p.per_stage[i].peak_bytes)));
      spans.forEach((span, k) => bar(drawn, { y: y(span.bytes), height: low - y(span.bytes), class: 'area' },
        span.begin, k + 1 < spans.length ? spans[k + 1].begin : end,
        `${t.lanes[i]} holds ${bytes(span.bytes)} in ${words(span)}`));
    });
    return drawn;
  };

  box.append(el('p', {}, `${count(p.stages)} stages along ${p.axis}, ${count(p.micro_batches)} micro-batches`
    + (p.interleave > 1 ? `, interleaved by ${p.interleave}` : '')
    + `; stages wait for ${digits(100 * p.bubble)} % of a step.`));
  box.append(el('p', { class: 'dim' }, 'A colour for each micro-batch, darker on the way back; dashed where a stage waits.'
    + (t.left_out ? ` ${count(t.left_out)} later tasks are not drawn.` : '')), timeline());
  table(box, 'What stages take', [
    ['stage', false, (r) => r[0]],
    ['forward, each micro-batch', true, (r) => seconds(r[1].forward_seconds)],
    ['back', true, (r) => seconds(r[1].backward_seconds)],
    ['update', true, (r) => seconds(r[1].update_seconds)],
    ['busy', true, (r) => seconds(r[1].busy_seconds)],
    ['memory of a device', true, (r) => bytes(r[1].peak_bytes)],
    ['received inside of it', true, (r) => bytes(r[1].received_bytes)],
    ['devices', false, (r) => r[1].shape],
  ], p.per_stage.map((s, i) => [i, s]), (r) => `stage ${r[0]} ${r[1].shape}`);
  table(box, 'What goes from stage to stage in a step', [
    ['from', false, (m) => m.from], ['to', false, (m) => m.to],
    ['messages', true, (m) => count(m.count)], ['bytes of a device', true, (m) => bytes(m.bytes)],
  ], p.messages, (m) => `stage ${m.from} ${m.to}`);
  return memory;
};
