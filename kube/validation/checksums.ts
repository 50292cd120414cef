/** Numbers whose last digit is made of the others. */

export function isIsbn10(value: string): boolean {
  const digits = value.replaceAll(/[-\s]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const numberOf = (digit: string) => (digit === 'X' ? 10 : Number(digit));
  return sum(digits, (digit, i) => (i + 1) * numberOf(digit)) % 11 === 0;
}

export function isIsbn13(value: string): boolean {
  const digits = value.replaceAll(/[-\s]/g, '');
  return (
    /^\d{13}$/.test(digits) && sum(digits, (digit, i) => (i % 2 === 0 ? 1 : 3) * Number(digit)) % 10 === 0
  );
}

/** By the ranges of those who issue them. */
const cards =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** Whatever is no digit may be between them. */
export function isCard(value: string): boolean {
  const digits = value.replaceAll(/\D/g, '');
  if (!cards.test(digits)) return false;
  const doubled = (digit: number) => (digit > 4 ? digit * 2 - 9 : digit * 2);
  return (
    sum(digits, (digit, i) => ((digits.length - i) % 2 === 0 ? doubled(Number(digit)) : Number(digit))) %
      10 ===
    0
  );
}

function sum(digits: string, weigh: (digit: string, i: number) => number): number {
  return [...digits].reduce((total, digit, i) => total + weigh(digit, i), 0);
}
