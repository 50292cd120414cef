import { describe, expect, it } from 'vitest';
import { Heard, Hearing } from '../../../controller/heard.ts';

function listener() {
  let now = 1_000_000;
  const heard = new Heard({ lostMs: 100, settleMs: 50, now: () => now });
  const later = (ms: number) => {
    now += ms;
    return heard.there();
  };
  return { heard, later };
}

describe('who says again and again that it is there', () => {
  it('counts once it has been heard for a while, and no longer than it says something new', () => {
    const { heard, later } = listener();
    heard.say('a', 1);
    expect(later(49)).toEqual([]);
    expect(later(1)).toEqual(['a']);
    heard.say('a', 2);
    expect(later(100)).toEqual(['a']);
    heard.say('a', 2);
    expect(later(1)).toEqual([]);
  });

  it('who comes again after a silence begins anew', () => {
    const { heard, later } = listener();
    heard.say('a', 1);
    later(101);
    heard.say('a', 2);
    expect(later(49)).toEqual([]);
    expect(later(1)).toEqual(['a']);
  });

  it('counts at once where it was there before anybody listened, unless it has been silent since', () => {
    const { heard, later } = listener();
    heard.say('a', 1, 10);
    heard.say('b', 1, 101);
    expect(later(0)).toEqual(['a']);
    expect(later(91)).toEqual([]);
  });

  it('a clock that is ahead or behind, and goes back, changes nothing', () => {
    const { heard, later } = listener();
    heard.say('a', 9_999_999_999_999);
    expect(later(50)).toEqual(['a']);
    heard.say('a', 5);
    expect(later(100)).toEqual(['a']);
  });

  it('who says that it goes is gone; who is silent for long is to be forgotten', () => {
    const { heard, later } = listener();
    heard.say('a', 1, 10);
    heard.say('b', 1, 10);
    heard.forget('a');
    expect(later(0)).toEqual(['b']);
    later(500);
    expect([heard.gone(500), heard.gone(510)]).toEqual([['b'], []]);
  });

  it('who wrote with a clock that is far behind is silent, but not to be forgotten before it was listened to', () => {
    const { heard, later } = listener();
    heard.say('a', 1, 3_600_000);
    expect([later(0), heard.gone(1_000)]).toEqual([[], []]);
    later(1_000);
    expect(heard.gone(1_000)).toEqual(['a']);
  });

  it('while this side does not hear itself nobody is lost', () => {
    let clock = 1_000_000;
    const hearing = new Hearing(40, () => clock);
    const heard = new Heard({ lostMs: 100, settleMs: 50, now: hearing.now });
    heard.say('a', 1, 10);
    hearing.heardSelf();
    clock += 60_000;
    expect(heard.there()).toEqual(['a']);
    hearing.heardSelf();
    expect(heard.there()).toEqual(['a']);
    for (let i = 0; i < 3; i++) {
      clock += 25;
      hearing.heardSelf();
    }
    expect(heard.there()).toEqual([]);
  });
});
